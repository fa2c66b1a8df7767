"""Inputs out of inputs: what fuzzing does where it is not guided by coverage, and what coverage never leads to: length."""

_SHORT = 24


def stretched(data, dice, most):
    """Return an input in which one piece stands many times: what is quadratic in a reader needs thousands of equal bytes."""
    if not data:
        return data
    start = dice.randrange(len(data))
    piece = data[start : start + dice.randint(1, _SHORT)]
    size = int(most ** dice.random())
    return (data[:start] + piece * (1 + size // len(piece)) + data[start:])[:most]


def mutated(data, others, words, dice, most):
    """Return an input that differs in one to four places."""
    found = bytearray(data)
    for _ in range(dice.randint(1, 4)):
        at, size = dice.randint(0, len(found)), dice.randint(1, _SHORT)
        match dice.randrange(7):
            case 0 if found:
                found[dice.randrange(len(found))] ^= 1 << dice.randrange(8)
            case 1:
                found[at:at] = dice.randbytes(dice.randint(1, 4))
            case 2:
                del found[at : at + size]
            case 3 if words:
                found[at : at + dice.choice((0, size))] = dice.choice(words)
            case 4:
                found[at:at] = found[at : at + size] * dice.randint(1, 4)
            case 5:
                other = dice.choice(others)
                found[at:] = other[dice.randint(0, len(other)) :]
            case _:
                found[at : at + size] = dice.choice((b"\0", b"\xff", b"\x7f")) * size
    return bytes(found[:most])
