"""Cluster-robust variances of a least-squares fit: CR2, with degrees of freedom.

These are the bias-reduced variances of Bell and McCaffrey (2002) with their Satterthwaite degrees of freedom,
for many contrasts of the coefficients at once. A cluster involves few coefficients, so its leverages are the
eigenvalues of a small matrix, computed for all clusters of a kind together. Only the inverse has the size of
all coefficients.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

_Array: TypeAlias = npt.NDArray[np.float64]
_Numbers: TypeAlias = npt.NDArray[np.intp]
_Sureness: TypeAlias = tuple[float | None, float | None]
"""The standard error and the degrees of freedom of a contrast.

The error is None if it cannot be estimated; the freedom is None also if nothing varied.
"""

_ZERO: Final = 1e-9  # eigenvalues and shares below this are rounding errors
_SURE: Final = 1e-5  # share of the summands below which too few digits are left
_BATCH: Final = 1 << 20  # numbers in an array of a batch of contrasts: 8 MB


@dataclass(frozen=True, slots=True)
class Cluster:
    """Clusters with the same rows of the design, each with its own coefficients."""

    members: _Numbers
    """(clusters, own): the coefficients of each cluster, without repeats."""
    gram: _Array
    """(own, own): the rows, transposed, times the rows."""
    moments: _Array
    """(clusters, own): the rows, transposed, times the residuals."""


class Variances:
    """The variances of a fit's contrasts and their degrees of freedom."""

    def __init__(self, inverse: _Array, clusters: Sequence[Cluster], factor: float = 1.0) -> None:
        """`inverse` is the pseudo-inverse of the Gram matrix of all rows; `factor` scales the variances."""
        coefficients = len(inverse)
        self._inverse = inverse
        self._meat = np.zeros((coefficients, coefficients))
        blind: list[_Array] = [np.zeros((0, coefficients))]
        self._kinds = []
        for each in clusters:
            if abs(each.gram).max() <= _ZERO:
                continue  # one bot at every seat of a deal-set
            kind = _Kind(each, inverse)
            kind.add_squares(each, self._meat)
            blind.append(kind.blind(coefficients))
            self._kinds.append(kind)
        self._meat *= factor
        self._blind = np.vstack(blind)
        self._edges = _Edges(self._kinds, coefficients)

    def of(self, contrasts: _Array) -> Iterator[_Sureness]:
        """Yield the error and freedom of each column of `contrasts`."""
        width = max(1, _BATCH // max(len(contrasts) ** 2, self._edges.count))
        for at in range(0, contrasts.shape[1], width):
            batch = contrasts[:, at : at + width]
            along = self._inverse @ batch
            yield from self._sureness(batch, along, self._freedom(along))

    def covariance(self, contrasts: _Array) -> _Array:
        """(contrasts, contrasts): the covariance of the columns."""
        along = self._inverse @ contrasts
        together: _Array = along.T @ self._meat @ along
        return together

    def of_differences(self, contrasts: _Array) -> Iterator[list[_Sureness]]:
        """Yield for each column of `contrasts` the errors of its differences to the columns after it."""
        along = self._inverse @ contrasts
        quick = None
        if self._kinds and all(kind.is_edge for kind in self._kinds):
            quick = _Graph(self._kinds, self._inverse).freedoms(along)
        for at in range(contrasts.shape[1]):
            differences = contrasts[:, at : at + 1] - contrasts[:, at + 1 :]
            if quick is None:
                yield list(self.of(differences))
                continue
            freedom, columns = quick[at, at + 1 :], along[:, at : at + 1] - along[:, at + 1 :]
            unsure = np.isnan(freedom)
            if unsure.any():
                freedom[unsure] = self._freedom(columns[:, unsure])
            yield list(self._sureness(differences, columns, freedom))

    def _sureness(self, contrasts: _Array, along: _Array, freedoms: _Array) -> Iterator[_Sureness]:
        scale = (along * contrasts).sum(axis=0)
        unknown = ((self._blind @ along) ** 2 > _ZERO * scale).any(axis=0)
        # A variance of zero may be slightly negative after rounding.
        variances = (along * (self._meat @ along)).sum(axis=0).clip(0.0)
        for is_unknown, variance, freedom in zip(unknown, variances, freedoms, strict=True):
            if is_unknown:
                yield None, None
            else:
                yield math.sqrt(variance), float(freedom) if freedom > 0.0 else None

    def _freedom(self, along: _Array) -> _Array:
        """Return the degrees of freedom of Bell and McCaffrey; 0 where they are not defined.

        That is 2 mean² / variance of the estimated variance, for independent normal noise. That variance has a
        part within each cluster and one between any two clusters.
        """
        mean, within = np.zeros(along.shape[1]), np.zeros(along.shape[1])
        products = []
        for kind in self._kinds:
            parts = kind.parts(along)
            mean += kind.mean(parts)
            within += kind.within(parts)
            products.append(kind.products(parts))
        return _ratio(mean, within + self._edges.between(products, self._inverse))


def _ratio(mean: _Array, squares: _Array) -> _Array:
    freedom: _Array = np.divide(mean**2, squares, out=np.zeros_like(mean), where=squares > 0)
    return freedom


class _Kind:
    """The clusters of one kind, those of the same coefficients taken together."""

    def __init__(self, cluster: Cluster, inverse: _Array) -> None:
        sizes, directions = np.linalg.eigh(cluster.gram)
        kept = sizes > _ZERO * max(sizes[-1], 1.0)
        # The rows in the space that they span: (ranks, own).
        self._spread = directions[:, kept].T * sizes[kept, None] ** 0.5
        self._sizes = sizes[kept]
        self.members, self._number, counts = np.unique(
            cluster.members, axis=0, return_inverse=True, return_counts=True
        )
        self._number = self._number.reshape(-1)
        self.counts: _Array = counts.astype(np.float64)
        local = inverse[self.members[:, :, None], self.members[:, None, :]]
        leverages, self._axes = np.linalg.eigh(self._spread @ local @ self._spread.T)
        # A direction of leverage 1 is known from this cluster alone, so it has no error estimate.
        self._is_blind = leverages > 1.0 - _ZERO
        seen = ~self._is_blind & (leverages > _ZERO)
        left = np.where(seen, 1.0 - leverages, 1.0)
        self._leverages = leverages
        self._root = np.where(seen, left**-0.5, 0.0)
        self._own = np.where(seen, 1.0 / left, 0.0)
        self._less = np.where(seen, (1.0 - 2.0 * leverages) / left, 0.0)
        #: (clusters, ranks, own): the eigenvectors of each cluster.
        self._basis = self._axes.transpose(0, 2, 1) @ self._spread
        self._seen_basis = np.where(seen[:, :, None], self._basis, 0.0)
        self._bent = self._seen_basis * self._root[:, :, None]
        bots = cluster.gram.shape[0]
        self.pairs = [(one, other) for one in range(bots) for other in range(one + 1, bots)]

    def add_squares(self, cluster: Cluster, meat: _Array) -> None:
        """Add each cluster's adjusted moments, squared, to `meat`."""
        flat = cluster.moments @ (self._spread / self._sizes[:, None]).T
        turned = np.einsum("nr,nrw->nw", flat, self._axes[self._number])
        adjusted = np.einsum("nw,nwk->nk", turned, self._bent[self._number])
        members = cluster.members
        np.add.at(
            meat,
            (members[:, :, None], members[:, None, :]),
            adjusted[:, :, None] * adjusted[:, None, :],
        )

    def blind(self, coefficients: int) -> _Array:
        """Return the directions without an error estimate, a row each, scaled to their image."""
        at, rank = np.nonzero(self._is_blind)
        rows = np.zeros((len(at), coefficients))
        scale = self._leverages[at, rank] ** -0.5
        rows[np.arange(len(at))[:, None], self.members[at]] = self._basis[at, rank] * scale[:, None]
        return rows

    @property
    def is_edge(self) -> bool:
        """Whether each cluster compares just two coefficients."""
        return self.members.shape[1] == 2 and len(self._spread) == 1

    def weights(self) -> tuple[_Array, _Array, _Array]:
        """Return, for edges, the weights of the squared difference in mean, `within` and `shared`."""
        size = self._seen_basis[:, 0, 0] ** 2
        own, less, root = self._own[:, 0], self._less[:, 0], self._root[:, 0]
        return (
            self.counts * size,
            self.counts * own * less * size**2,
            self.counts * (root * size) ** 2,
        )

    def parts(self, along: _Array) -> _Array:
        """(clusters, ranks, contrasts): the component of each contrast in each direction."""
        parts = self._seen_basis[:, :, 0, None] * along[self.members[:, 0], None, :]
        for own in range(1, self.members.shape[1]):
            parts += self._seen_basis[:, :, own, None] * along[self.members[:, own], None, :]
        return parts

    def mean(self, parts: _Array) -> _Array:
        total: _Array = np.einsum("c,cwj,cwj->j", self.counts, parts, parts)
        return total

    def within(self, parts: _Array) -> _Array:
        """Return the part of the variance's variance that lies within the clusters."""
        squares = parts**2
        own = np.einsum("cw,cwj->cj", self._own, squares)
        less = np.einsum("cw,cwj->cj", self._less, squares)
        total: _Array = np.einsum("c,cj,cj->j", self.counts, own, less)
        return total

    def products(self, parts: _Array) -> _Array:
        """(clusters x pairs, contrasts): the products of each two own coefficients."""
        if parts.shape[1] == 1:
            bent = self._bent[:, 0]
            weights = [self.counts * bent[:, one] * bent[:, other] for one, other in self.pairs]
            found = np.array(weights).T[:, :, None] * parts**2
        else:
            reach = np.einsum("cwk,cwj->ckj", self._bent, parts)
            one, other = (list(each) for each in zip(*self.pairs, strict=True))
            found = self.counts[:, None, None] * reach[:, one] * reach[:, other]
        return found.reshape(-1, parts.shape[2])


class _Edges:
    """Groups the products of all clusters by pairs of coefficients."""

    def __init__(self, kinds: Sequence[_Kind], coefficients: int) -> None:
        keys = []
        for kind in kinds:
            one, other = (list(each) for each in zip(*kind.pairs, strict=True))
            ends = kind.members[:, one], kind.members[:, other]
            keys.append((np.minimum(*ends) * coefficients + np.maximum(*ends)).ravel())
        every = np.concatenate(keys or [np.zeros(0, dtype=np.intp)])
        self.count = len(every)
        self._order = np.argsort(every, kind="stable")
        edges, self._starts = np.unique(every[self._order], return_index=True)
        # The edge of each entry of the square matrix; the last index is for entries without an edge.
        self._place = np.full(coefficients**2, len(edges))
        low, high = np.divmod(edges, coefficients)
        self._place[edges] = self._place[high * coefficients + low] = np.arange(len(edges))
        self._in_order = bool((self._order == np.arange(self.count)).all())

    def between(self, products: Sequence[_Array], inverse: _Array) -> _Array:
        """Return the part of the variance's variance that lies between clusters, for each contrast."""
        if not products:
            return np.zeros(1)
        every = products[0] if len(products) == 1 else np.concatenate(products)
        if not self._in_order:
            every = every[self._order]
        if len(self._starts) < self.count:
            every = np.add.reduceat(every, self._starts, axis=0)
        size, contrasts = len(inverse), every.shape[1]
        shared = np.vstack([every, np.zeros((1, contrasts))])[self._place]
        # Every row of the design sums to zero, and so do those of what clusters share.
        diagonal = np.arange(0, size**2, size + 1)
        shared[diagonal] = -(np.ones(size) @ shared.reshape(size, -1)).reshape(size, contrasts)
        turned = (inverse @ shared.reshape(size, -1)).reshape(size, size, contrasts)
        found: _Array = np.einsum("abj,baj->j", turned, turned)
        return found


class _Graph:
    """Clusters that compare two coefficients each, as a graph of weighted edges.

    Computes the freedoms of all pairs of contrasts at once, with a few products of square matrices for each
    contrast. The overlap of two clusters is a square of differences of `inverse`; when it is expanded, its sums
    over all edges at one coefficient are such products.
    """

    def __init__(self, kinds: Sequence[_Kind], inverse: _Array) -> None:
        self._inverse = inverse
        self._mean, self._within, self._shared = (np.zeros_like(inverse) for _ in range(3))
        for kind in kinds:
            one, other = kind.members.T
            for matrix, weights in zip(
                (self._mean, self._within, self._shared), kind.weights(), strict=True
            ):
                np.add.at(matrix, (one, other), weights)
                np.add.at(matrix, (other, one), weights)

    def freedoms(self, along: _Array) -> _Array:
        """Return in row i and column j the freedom of contrast i minus contrast j.

        It is NaN where too many digits cancel.
        """
        pulled = along.T @ _laplacian(self._mean) @ along
        own = np.diag(pulled)
        mean = own[:, None] + own - 2.0 * pulled
        # The squares are of fourth degree in the difference; these are the sums for each power.
        fourth = np.zeros(along.shape[1])
        third, second = np.zeros_like(mean), np.zeros_like(mean)
        for at, column in enumerate(along.T):
            difference = column[:, None] - column
            shared = self._shared * difference
            image = self._inverse @ _laplacian(shared * difference) @ self._inverse
            size = np.diag(image)
            reach = size[:, None] + size - 2.0 * image
            cubes = self._within * difference**3 + shared * reach
            fourth[at] = (cubes * difference).sum() / 2.0
            third[at] = cubes.sum(axis=1) @ along
            form = _laplacian(6.0 * self._within * difference**2 + 2.0 * self._shared * reach)
            form += 4.0 * self._overlaps(shared)
            second[at] = (along * (form @ along)).sum(axis=0)
        ends = fourth[:, None] + fourth
        squares = ends + second - 4.0 * (third + third.T)
        freedoms = _ratio(mean, squares)
        freedoms[squares < _SURE * ends] = math.nan
        return freedoms

    def _overlaps(self, shared: _Array) -> _Array:
        """Return, for any two coefficients, the sum of weights times overlap over all pairs of edges, one at each.

        `shared` has the weight of each edge, with the sign as seen from either end. The overlap of
        edges ac and bd is (inverse_ab - inverse_ad - inverse_cb + inverse_cd)².
        """
        inverse, squares = self._inverse, self._inverse**2
        total = shared.sum(axis=1)
        once, twice = shared @ inverse, shared @ squares
        found = squares * np.outer(total, total)
        found += 2.0 * inverse * (once @ shared.T) + twice @ shared.T + 2.0 * once * once.T
        one_sided = total * (twice - 2.0 * inverse * once)
        one_sided -= 2.0 * (inverse * once) @ shared.T
        overlaps: _Array = found + one_sided + one_sided.T
        return overlaps


def _laplacian(weights: _Array) -> _Array:
    """Return the Laplacian of a graph with these weights: its quadratic form sums weighted squared differences."""
    laplacian: _Array = np.diag(weights.sum(axis=1)) - weights
    return laplacian
