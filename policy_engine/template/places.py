"""Where the parts of a topology stand in the template that it was read from."""

from dataclasses import dataclass, field

from policy_engine.template.resources import Place
from policy_engine.topology.source import Path, SourceMap, Span


@dataclass(slots=True)
class Places:
    """Where each part of a topology stands in the template that it was read from."""

    template: str
    sources: SourceMap
    by_path: dict[Path, Place] = field(default_factory=dict)
    _keys: dict[Path, Span] = field(default_factory=dict)
    _values: dict[Path, Span] = field(default_factory=dict)
    _scalars: set[Path] = field(default_factory=set)

    def put(self, path: Path, place: Place, *, name: Place | None = None) -> None:
        """Note where a part stands, and the value in the template that is its key in the topology, if one is."""
        self.by_path[path] = place
        if place.template != self.template:
            return
        span = self._span(place.path)
        if span is not None:
            self._values[path] = span
        if place.path in self.sources.scalars:
            self._scalars.add(path)
        named = span if name is None else self._span(name.path)
        if named is not None:
            self._keys[path] = named

    def nearest(self, path: Path) -> Place:
        """Where a part stands, or the nearest part around it that the template has."""
        return next(self.by_path[path[:end]] for end in range(len(path), -1, -1) if path[:end] in self.by_path)

    def as_sources(self) -> SourceMap:
        """Positions by the topology's paths. Empty if the template was not read from a file."""
        return SourceMap(self.sources.file, self.sources.lines, self._keys, self._values, frozenset(self._scalars))

    def _span(self, path: Path) -> Span | None:
        known = self.sources
        return known.values.get(path) if path in known.scalars else known.keys.get(path, known.values.get(path))
