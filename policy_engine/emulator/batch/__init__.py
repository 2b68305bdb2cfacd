"""moto's `batch` service, extended by quota management: backends, responses and URLs in moto's own conventions."""
