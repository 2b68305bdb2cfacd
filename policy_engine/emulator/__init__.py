"""AWS Batch's quota management on this machine: moto's Batch, extended, with our scheduler behind it.

What AWS does not document, and the emulator had to choose, is listed in docs/emulator.md.
"""
