"""Groups of features: the worst case takes whole groups by |c_G|^2 (sections 2.2, 2.3, 4.2, 4.3).

In: which groups a feature is in, from --groups or from namespaces. Groups may overlap: a feature
stands in each of them, as in the paper's augmented data, over one shared column. A feature in no
group is a group of its own, under its own name. In a tree, a group named `a/b` lies in `a`.

When the table of features does not fit, what --groups lists keeps an exact c and the features in no
group are sketched: the scan that collects re-scores the best of them exactly. Of namespaces the largest
give way to a sketch each, which tells their score about; the others are exact.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Any

import numpy as np

from fsstream.algorithms.fgm.machine import Machine
from fsstream.algorithms.fgm.scans import CollectCandidates
from fsstream.errors import LimitError
from fsstream.text import to_text

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from fsstream.algorithms.scanning import Scan


class GroupMachine(Machine):
    """k counts groups; a round brings the B groups with the largest sum of c_j^2."""

    tries_costs = False

    def __init__(self, *fixed: Any, table: Mapping[int, Sequence[str]] | None, **options: Any) -> None:
        super().__init__(*fixed, **options)
        self._tree = self._parameters.groups == "tree"
        self._by_namespace = self._parameters.groups == "namespace"
        if self._by_namespace:
            self.scores.note_namespaces()
        self._table = {} if table is None else table
        self._listed_keys = np.array(list(self._table), dtype=np.uint64)
        self.scores.keep_exact(self._listed_keys)
        self._chosen: list[int] = []  # group numbers, in the order they came
        self._sketched: list[int] = []  # keys of chosen features of no group, numbered after the layout's

    def _begin(self) -> None:
        super()._begin()
        self._layout = self._namespaces() if self._by_namespace else self._listed()

    def _namespaces(self) -> Layout:
        numbers, names = self.scores.namespaces()
        spelled = [to_text(name) for name in names]
        return Layout(spelled, numbers.astype(np.int64), np.arange(len(numbers)))

    def _listed(self) -> Layout:
        """Every feature of the stream with its groups; what is in none comes after, alone."""
        place = {key: number for number, key in enumerate(self.scores.keys().tolist())}
        named: dict[str, list[int]] = {}
        for key, groups in self._table.items():
            feature = place.get(key)
            if feature is None:
                continue
            for path in dict.fromkeys(path for group in groups for path in self._paths(group)):
                named.setdefault(path, []).append(feature)
        names = sorted(named)
        member = np.repeat(np.arange(len(names)), [len(named[name]) for name in names])
        held = np.array([f for name in names for f in named[name]], dtype=np.int64)
        lone = np.setdiff1d(np.arange(len(place)), held)
        lone = lone[np.argsort(self.scores.keys()[lone], kind="stable")]
        return Layout(
            names,
            np.concatenate([member, len(names) + np.arange(len(lone))]).astype(np.int64),
            np.concatenate([held, lone]).astype(np.int64),
        )

    def remarks(self) -> Iterator[str]:
        """Listed features that are not in the stream: their names may be spelled in another way."""
        met, listed = self.scores.exact_met, len(self._table)
        if 2 * met < listed:
            yield (
                f"--groups: {met or 'none'} of the {listed} features it lists are in the stream: "
                "are names spelled as in the input?"
            )

    def _paths(self, group: str) -> list[str]:
        if not self._tree:
            return [group]
        parts = group.split("/")
        return ["/".join(parts[: depth + 1]) for depth in range(len(parts))]

    @property
    def generated(self) -> int:
        """Groups so far."""
        return len(self._chosen)

    def _worst_case(self, wanted: int) -> Generator[Scan, None, NDArray[np.uint64]]:
        assert self.plan is not None
        squares = self._squares()
        found = self._layout.best(squares, wanted, set(self._chosen), pruned=self._tree)
        large = self._squares_of_large()
        found = self._above_large(found, large)
        alone: list[tuple[int, float]] = []
        if self.scores.sketched:
            found, alone = yield from self._with_sketched(found, wanted)
        if self.problem.groups:
            best = self._layout.best(squares, self.plan.B, set(), pruned=self._tree)
            every = [score for _, score in best + alone] + self._squares_of_sketched() + list(large.values())
            self._note_bounds(float(sum(sorted(every, reverse=True)[: self.plan.B])))
        ids = self._told([group for group, _ in found])
        yield from self._gather(ids)
        return ids

    def _squares_of_large(self) -> dict[str, float]:
        """About |c_G|^2 of the namespaces that are too large for the table of features."""
        if not self._by_namespace:
            return {}
        numbers, squares = self.scores.large_namespaces()
        names = [self._layout.names[number] for number in numbers.tolist()]
        return dict(zip(names, squares.tolist(), strict=True))

    def _above_large(
        self, found: list[tuple[int, float]], large: Mapping[str, float]
    ) -> list[tuple[int, float]]:
        """What scores higher than every namespace whose features could not be collected."""
        if not large:
            return found
        name, most = max(large.items(), key=lambda one: one[1])
        above = [(group, score) for group, score in found if score >= most]
        if not above and most > 0.0 and self.generated < self._k:
            raise LimitError(
                f"the namespace {name!r} is one of the {self._k} best, and its features do not fit "
                "the memory fgm may use for their scores",
                hint=f"raise --memory, or leave the namespace out with --ignore '{name}^*'",
            )
        return above

    def _with_sketched(
        self, found: list[tuple[int, float]], wanted: int
    ) -> Generator[Scan, None, tuple[list[tuple[int, float]], list[tuple[int, float]]]]:
        """The best of groups and of features that stand alone; and all new ones among the latter."""
        assert self.plan is not None
        scan = CollectCandidates(self.scores, self.plan.B, self._memory // 8, self.known)
        yield scan
        keys, c = scan.ranked(self.plan.B)
        first = self._layout.groups + len(self._sketched)
        alone = [(first + place, score**2) for place, score in enumerate(c.tolist())]
        best = sorted([*found, *alone], key=lambda one: (-one[1], one[0]))[:wanted]
        count = sum(group >= first for group, _ in best)
        self._take(scan, count)
        self._sketched += keys[:count].tolist()
        return best, alone

    def _squares_of_sketched(self) -> list[float]:
        """c^2 of those chosen in earlier rounds: they are columns by now."""
        groups = [group for group in self._chosen if group >= self._layout.groups]
        if not groups:
            return []
        columns = self._columns_of(np.array(groups, dtype=np.uint64))
        squares: list[float] = (self.problem.columns.dots(columns, self.problem.residuals) ** 2).tolist()
        return squares

    def _told(self, groups: list[int]) -> NDArray[np.uint64]:
        """Numbers for a round; beside keys when numbers alone would not tell a resumed run who was meant."""
        numbers = np.array(groups, dtype=np.uint64)
        if not self.scores.sketched:
            return numbers
        named = self._layout.groups
        keys = [self._sketched[group - named] if group >= named else 0 for group in groups]
        return np.column_stack([numbers, np.array(keys, dtype=np.uint64)])

    def _numbers(self, ids: NDArray[np.uint64]) -> list[int]:
        """Group numbers from what was told of a round."""
        if ids.ndim == 1:
            numbers: list[int] = ids.tolist()
            return numbers
        for group, key in ids.tolist():
            if group == self._layout.groups + len(self._sketched):
                self._sketched.append(key)
        return [group for group, _ in ids.tolist()]

    def _groups(self) -> int:
        if self._by_namespace:
            return len(self.scores.namespaces()[1])
        met = self._listed_keys[np.isin(self._listed_keys, self.scores.keys())].tolist()
        named = {path for key in met for group in self._table[key] for path in self._paths(group)}
        return len(named) + self.scores.features - len(met)

    def _squares(self) -> NDArray[np.float64]:
        """What the features of a group add up to its score, by feature."""
        return self.scores.scores() ** 2

    def _gather(self, ids: NDArray[np.uint64]) -> Iterator[Scan]:
        numbers = self._numbers(ids)
        self._chosen += [group for group in dict.fromkeys(numbers) if group not in set(self._chosen)]
        yield from self._collect(self._keys_of(ids))

    def _keys_of(self, ids: NDArray[np.uint64]) -> NDArray[np.uint64]:
        named, keys = self._layout.groups, self.scores.keys()
        parts = [
            keys[self._layout.features(group)]
            if group < named
            else np.array([self._sketched[group - named]], dtype=np.uint64)
            for group in self._numbers(ids)
        ]
        return np.concatenate([np.zeros(0, np.uint64), *parts])

    def _columns_of(self, ids: NDArray[np.uint64]) -> NDArray[np.uint32]:
        return super()._columns_of(self._keys_of(ids))

    def _members(self) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
        columns = [self._columns_of(np.array([group], dtype=np.uint64)) for group in self._chosen]
        unit = np.repeat(np.arange(len(columns)), [len(part) for part in columns])
        return unit, np.concatenate([np.zeros(0, np.uint32), *columns])

    def group_labels(self) -> list[str]:
        """A column in several kept groups counts to the one that came first."""
        assert self.kept is not None
        unit, column = self._members()
        first: dict[int, int] = {}
        kept = set(self.kept_units.tolist())
        for u, c in zip(unit.tolist(), column.tolist(), strict=True):
            if u in kept:
                first.setdefault(c, u)
        return [self._label(self._chosen[first[c]], c) for c in self.kept.tolist()]

    def _label(self, group: int, column: int) -> str:
        if group < len(self._layout.names):
            return self._layout.names[group]
        return to_text(self.names[column])


class Layout:
    """Groups over features: group[e] holds feature[e]. Groups beyond the names hold one feature."""

    def __init__(self, names: list[str], group: NDArray[np.int64], feature: NDArray[np.int64]) -> None:
        self.names = names
        order = np.argsort(group, kind="stable")
        self._group, self._feature = group[order], feature[order]
        self.groups = int(self._group[-1]) + 1 if len(group) else 0
        self._starts = np.searchsorted(self._group, np.arange(self.groups + 1))
        self.scored = 0  # how many groups the last search looked at

    def features(self, group: int) -> NDArray[np.int64]:
        """The features of a group."""
        return self._feature[self._starts[group] : self._starts[group + 1]]

    def best(
        self, squares: NDArray[np.float64], count: int, taken: set[int], *, pruned: bool
    ) -> list[tuple[int, float]]:
        """The groups with the largest sum of c_j^2; ties: the smaller number."""
        if pruned:
            return self._best_pruned(squares, count, taken)
        scores = np.bincount(self._group, squares[self._feature], minlength=self.groups)
        self.scored = self.groups
        open_groups = np.setdiff1d(np.arange(self.groups), np.array(sorted(taken), dtype=np.int64))
        open_groups = open_groups[scores[open_groups] > 0]
        order = np.lexsort((open_groups, -scores[open_groups]))[:count]
        return [(int(g), float(scores[g])) for g in open_groups[order]]

    def _best_pruned(
        self, squares: NDArray[np.float64], count: int, taken: set[int]
    ) -> list[tuple[int, float]]:
        """Remark 2: a group never scores above the group it lies in, so subtrees wait below roots.

        The heap holds the roots of what has not been looked into; once its largest falls below the
        count-th score found, nothing under any of them can come in.
        """
        self.scored = 0
        heap = [self._entry(squares, group) for group in self._roots]
        heapq.heapify(heap)
        found: list[tuple[int, float]] = []
        while heap and len(found) < count:
            negative, group = heapq.heappop(heap)
            if negative == 0.0:
                break
            if group not in taken:
                found.append((group, -negative))
            for child in self._children.get(group, ()):
                heapq.heappush(heap, self._entry(squares, child))
        return found

    def _entry(self, squares: NDArray[np.float64], group: int) -> tuple[float, int]:
        self.scored += 1
        one = np.zeros(len(self.features(group)), np.int64)
        # bincount adds one after the other, as the unpruned search does: the same bits.
        return -float(np.bincount(one, squares[self.features(group)])[0]), group

    @property
    def _roots(self) -> list[int]:
        tops = [g for g, name in enumerate(self.names) if "/" not in name]
        return tops + list(range(len(self.names), self.groups))

    @property
    def _children(self) -> dict[int, list[int]]:
        if not hasattr(self, "_child_table"):
            number = {name: g for g, name in enumerate(self.names)}
            self._child_table: dict[int, list[int]] = {}
            for name, g in number.items():
                if "/" in name:
                    self._child_table.setdefault(number[name.rpartition("/")[0]], []).append(g)
        return self._child_table
