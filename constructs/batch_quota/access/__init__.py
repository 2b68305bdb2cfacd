"""Who may do what: grants on queues and quota shares, policies of a topology's teams, and the roles that jobs need."""
