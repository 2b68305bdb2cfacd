"""Quota management as CloudFormation resources, in moto's CloudFormation."""
