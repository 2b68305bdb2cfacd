"""What an emulator keeps in a file, so that a server that was killed goes on where it was.

All accepted calls, of whatever service, with their time: a restarted server makes them again, in the same order, at the
same times and with the same random identifiers, and checks that each has the answer's status that it had.
"""
