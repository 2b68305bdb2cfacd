"""AWS CDK constructs for AWS Batch quota management."""
