"""The Merkle tree of RFC 6962: roots, inclusion proofs and consistency proofs, and how to check them."""

from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256

Nodes = Callable[[int, int], bytes]
"""Gives the hash of the full subtree of 2**level leaves that is the index-th from the left."""

EMPTY_ROOT = sha256(b"").digest()


def leaf_hash(data: bytes) -> bytes:
    return sha256(b"\x00" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    return sha256(b"\x01" + left + right).digest()


class Accumulator:
    """Grows a tree leaf by leaf, keeps only the roots of its full subtrees, and knows the root at every size."""

    __slots__ = ("_peaks", "size")

    def __init__(self, size: int = 0, peaks: Sequence[bytes] = ()) -> None:
        if len(peaks) != size.bit_count():
            raise ValueError(f"A tree of {size} leaves has {size.bit_count()} peaks, not {len(peaks)}.")
        self.size = size
        self._peaks = list(peaks)

    def append(self, data: bytes) -> None:
        self.extend((data,))

    def extend(self, leaves: Iterable[bytes]) -> None:
        nodes = [sha256(b"\x00" + data).digest() for data in leaves]
        size, self.size = self.size, self.size + len(nodes)
        left_over: list[bytes] = []
        while nodes:
            if size & 1:
                nodes.insert(0, self._peaks.pop())
            if len(nodes) & 1:
                left_over.append(nodes.pop())
            pairs = iter(nodes)
            nodes = [sha256(b"\x01" + left + right).digest() for left, right in zip(pairs, pairs, strict=True)]
            size >>= 1
        self._peaks += reversed(left_over)

    def root(self) -> bytes:
        if not self._peaks:
            return EMPTY_ROOT
        node = self._peaks[-1]
        for peak in reversed(self._peaks[:-1]):
            node = node_hash(peak, node)
        return node


def root(nodes: Nodes, size: int) -> bytes:
    return _range_hash(nodes, 0, size) if size else EMPTY_ROOT


def peaks(nodes: Nodes, size: int) -> list[bytes]:
    """The full subtrees a tree of this size consists of, largest first: what an `Accumulator` continues from."""
    hashes: list[bytes] = []
    start = 0
    for level in reversed(range(size.bit_length())):
        if size >> level & 1:
            hashes.append(nodes(level, start >> level))
            start += 1 << level
    return hashes


def inclusion_path(nodes: Nodes, index: int, size: int) -> list[bytes]:
    """PATH(index, D[size]): what one needs to get from the leaf to the root."""
    if not 0 <= index < size:
        raise ValueError(f"There is no leaf {index} in a tree of {size}.")
    path: list[bytes] = []
    start, end = 0, size
    while end - start > 1:
        middle = start + _split(end - start)
        if index < middle:
            path.append(_range_hash(nodes, middle, end))
            end = middle
        else:
            path.append(_range_hash(nodes, start, middle))
            start = middle
    return path[::-1]


def consistency_path(nodes: Nodes, first: int, second: int) -> list[bytes]:
    """PROOF(first, D[second]): what one needs to see that the smaller tree is the beginning of the larger one."""
    if not 0 < first <= second:
        raise ValueError(f"There is no proof from size {first} to size {second}.")
    path: list[bytes] = []
    start, end, whole = 0, second, True
    while first != end:
        middle = start + _split(end - start)
        if first <= middle:
            path.append(_range_hash(nodes, middle, end))
            end = middle
        else:
            path.append(_range_hash(nodes, start, middle))
            start, whole = middle, False
    if not whole:
        path.append(_range_hash(nodes, start, end))
    return path[::-1]


def inclusion_holds(leaf: bytes, index: int, size: int, path: Sequence[bytes], expected_root: bytes) -> bool:
    """RFC 9162, section 2.1.3.2, on a leaf's hash."""
    if not 0 <= index < size:
        return False
    fn, sn, node = index, size - 1, leaf
    for step in path:
        if sn == 0:
            return False
        if fn & 1 or fn == sn:
            node = node_hash(step, node)
            while not fn & 1 and fn:
                fn, sn = fn >> 1, sn >> 1
        else:
            node = node_hash(node, step)
        fn, sn = fn >> 1, sn >> 1
    return sn == 0 and node == expected_root


def consistency_holds(first: int, second: int, path: Sequence[bytes], first_root: bytes, second_root: bytes) -> bool:
    """RFC 9162, section 2.1.4.2."""
    if not 0 < first <= second:
        return False
    if first == second:
        return not path and first_root == second_root
    steps = [first_root, *path] if first & (first - 1) == 0 else list(path)
    if not steps:
        return False
    fn, sn = first - 1, second - 1
    while fn & 1:
        fn, sn = fn >> 1, sn >> 1
    old = new = steps[0]
    for step in steps[1:]:
        if sn == 0:
            return False
        if fn & 1 or fn == sn:
            old, new = node_hash(step, old), node_hash(step, new)
            while not fn & 1 and fn:
                fn, sn = fn >> 1, sn >> 1
        else:
            new = node_hash(new, step)
        fn, sn = fn >> 1, sn >> 1
    return sn == 0 and old == first_root and new == second_root


def _range_hash(nodes: Nodes, start: int, end: int) -> bytes:
    width = end - start
    if width & (width - 1) == 0:
        level = width.bit_length() - 1
        return nodes(level, start >> level)
    middle = start + _split(width)
    return node_hash(_range_hash(nodes, start, middle), _range_hash(nodes, middle, end))


def _split(width: int) -> int:
    return 1 << (width - 1).bit_length() - 1
