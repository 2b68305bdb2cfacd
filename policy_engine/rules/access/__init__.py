"""What IAM policies beside a queue allow: `validate` checks it in templates, and synth in all of an app's."""
