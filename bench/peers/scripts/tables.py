"""Files of numbers, as the cases of the suite `tables` read and write them."""

import os


def sync(path):
    """Waits until the disk has the bytes, as covarium does before it gives a file its name."""
    descriptor = os.open(path, os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def run(problem, inputs, formats):
    """A function that reads or writes a file once; None for a format that is not one of `formats`: {name: (read(path), write(rows, path))}."""
    verb, name = problem["case"].split(" ")
    if name not in formats:
        return None
    read, write = formats[name]
    rows = inputs["table"].reshape(problem["count"], problem["dimension"])
    path = f"{problem['id']}-file"
    if verb == "write":

        def write_and_sync():
            write(rows, path)
            sync(path)

        return write_and_sync, (lambda _: read(path))
    write(rows, path)
    return lambda: read(path)
