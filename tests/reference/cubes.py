"""All largest products of code sets inside a set of cells, by trying every product."""

from itertools import product


def largest_cubes(cells: list[tuple[int, ...]], inside: list[bool]) -> set[tuple[int, ...]]:
    """Products (bits of codes) that hold no cell outside and some inside, and lie in no other such product."""
    tops = [max(cell[column] for cell in cells) for column in range(len(cells[0]))]
    good = []
    for cube in product(*(range(1, 1 << top + 1) for top in tops)):
        held = [all(bits >> code & 1 for bits, code in zip(cube, cell)) for cell in cells]
        if any(h and i for h, i in zip(held, inside)) and not any(h and not i for h, i in zip(held, inside)):
            good.append(cube)
    return {
        cube
        for cube in good
        if not any(cube != other and all(a & ~b == 0 for a, b in zip(cube, other)) for other in good)
    }
