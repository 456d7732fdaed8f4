"""Small systems of linear equations."""

from collections.abc import Sequence

SINGULAR = 1e-14
"""A pivot smaller than this share of its row's largest entry counts as zero."""
Matrix = Sequence[Sequence[float]]


def solved(matrix: Matrix, right: Sequence[float]) -> list[float] | None:
    """The solution by elimination with the largest pivots, of equations scaled to a diagonal of
    ones; None where there is none.

    The matrix is symmetric and positive semidefinite, as normal equations are.
    """
    size = len(right)
    if any(matrix[index][index] <= 0 for index in range(size)):
        return None
    scales = [matrix[index][index] ** 0.5 for index in range(size)]
    rows = [
        [matrix[i][j] / (scales[i] * scales[j]) for j in range(size)] + [right[i] / scales[i]]
        for i in range(size)
    ]
    for column in range(size):
        pivot = max(range(column, size), key=lambda row: abs(rows[row][column]))
        if abs(rows[pivot][column]) < SINGULAR:
            return None
        rows[column], rows[pivot] = rows[pivot], rows[column]
        for row in range(size):
            if row != column:
                factor = rows[row][column] / rows[column][column]
                rows[row] = [a - factor * b for a, b in zip(rows[row], rows[column], strict=True)]
    return [rows[index][size] / rows[index][index] / scales[index] for index in range(size)]


def inverse(matrix: Matrix) -> list[list[float]] | None:
    """The inverse of such a matrix; None where there is none."""
    size = len(matrix)
    columns = [
        solved(matrix, [float(row == column) for row in range(size)]) for column in range(size)
    ]
    found = [column for column in columns if column is not None]
    return [list(row) for row in zip(*found, strict=True)] if len(found) == size else None
