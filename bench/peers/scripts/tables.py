"""Files of numbers, as the cases of the suite `tables` read and write them."""


def run(problem, inputs, formats):
    """A function that reads or writes a file once; None for a format that is not one of `formats`: {name: (read(path), write(rows, path))}."""
    verb, name = problem["case"].split(" ")
    if name not in formats:
        return None
    read, write = formats[name]
    rows = inputs["table"].reshape(problem["count"], problem["dimension"])
    path = f"{problem['id']}-file"
    if verb == "write":
        return (lambda: write(rows, path)), (lambda _: read(path))
    write(rows, path)
    return lambda: read(path)
