"""The site of `make docs`: what its pages are made of."""
