"""Synthetic traces: the load they were asked for, the shape of the day, and the same bytes everywhere."""

import hashlib
import io
import math
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policy_engine.topology import Topology
from policy_engine.trace import NONE, ON_STOP, FileFormat, JobTrace
from policy_engine.trace.generation import Arrivals, ShareLoad, TraceSpec, Weighted, expected_jobs, generate, shares_of
from policy_engine.trace.portable import choices, exp, log, normal_quantile, uniforms
from policy_engine.trace.writing import native_frame, write_stream

SEARCH = ShareLoad(share="search", capacity={"ml.g5.xlarge": 10})
VISION = ShareLoad(share="vision", capacity={"ml.g5.12xlarge": 4, "ml.p4d.24xlarge": 2})
DAY = 86_400_000


def spec(*shares: ShareLoad, **rest: object) -> TraceSpec:
    return TraceSpec(shares=shares, **rest)  # type: ignore[arg-type]


def csv(trace: JobTrace) -> bytes:
    buffer = io.BytesIO()
    write_stream(trace, buffer, FileFormat.CSV)
    return buffer.getvalue()


def busy_instances(trace: JobTrace, days: float) -> dict[str, float]:
    """Mean demand for each unit."""
    work = trace.runtime @ trace.needs[trace.need]
    return {unit: work[index] / (days * DAY) for index, unit in enumerate(trace.units)}


def test_the_same_seed_gives_the_same_bytes_on_every_machine() -> None:
    one = csv(generate(spec(SEARCH, VISION, days=2.5), 42))
    assert one == csv(generate(spec(SEARCH, VISION, days=2.5), 42))
    assert hashlib.sha256(one).hexdigest() == "aa0a286a91203c7bc1d32444a4174388d9de43264b95215416f187d084aad3f3"


def test_another_seed_gives_other_jobs() -> None:
    assert csv(generate(spec(SEARCH), 1)) != csv(generate(spec(SEARCH), 2))


def test_a_share_s_jobs_do_not_depend_on_other_shares() -> None:
    alone = native_frame(generate(spec(SEARCH), 5))
    together = native_frame(generate(spec(VISION, SEARCH), 5))
    assert together.filter(together["share"] == "search").equals(alone)


@pytest.mark.parametrize("arrivals", list(Arrivals))
def test_the_demand_is_the_load_of_each_instance_type(arrivals: Arrivals) -> None:
    shares = [
        ShareLoad(share=share.share, capacity={u: n * 10 for u, n in share.capacity.items()}, load=load, sigma=0.5)
        for share, load in ((SEARCH, 0.5), (VISION, 1.5))
    ]
    demand = busy_instances(generate(spec(*shares, days=30, arrivals=arrivals), 3), 30)
    expected = {"ml.g5.xlarge": 50.0, "ml.g5.12xlarge": 60.0, "ml.p4d.24xlarge": 30.0}
    assert demand == pytest.approx(expected, rel=0.03)


def test_the_number_of_jobs_can_be_set_and_is_dealt_out_by_load() -> None:
    wanted = spec(SEARCH, VISION, jobs=1001)
    trace = generate(wanted, 0)
    assert len(trace) == expected_jobs(wanted) == 1001
    counts = np.bincount(trace.share)
    assert dict(zip(trace.share_names, counts.tolist(), strict=True)) == {"search": 626, "vision": 375}


def test_sizes_priorities_and_the_rest_are_what_the_share_says() -> None:
    load = ShareLoad(
        share="s",
        capacity={"ml.x": 50},
        median=3_600_000,
        sigma=0.8,
        longest=7_200_000,
        size=Weighted((1, 4), (3, 1)),
        priority=Weighted((10, 500), (1, 1)),
        retries=3,
        checkpoint=ON_STOP,
        fails=0.25,
    )
    trace = generate(spec(load, jobs=20_000), 9)
    sizes = trace.needs[trace.need, 0]
    assert (sizes == 4).mean() == pytest.approx(0.25, abs=0.02)
    assert set(sizes.tolist()) == {1, 4}
    assert (trace.priority == 500).mean() == pytest.approx(0.5, abs=0.02)
    assert set(trace.priority.tolist()) == {10, 500}
    assert set(trace.preemption_retries.tolist()) == {3}
    assert set(trace.checkpoint.tolist()) == {ON_STOP}
    assert set(trace.attempt_timeout.tolist()) == {NONE}
    assert trace.fails.mean() == pytest.approx(0.25, abs=0.02)
    assert np.median(trace.runtime) == pytest.approx(3_600_000, rel=0.03)
    assert trace.runtime.max() == 7_200_000


def test_the_logarithm_of_runtimes_is_normal() -> None:
    trace = generate(
        spec(ShareLoad(share="s", capacity={"ml.x": 1}, median=10**8, sigma=0.7, longest=10**11), jobs=50_000), 4
    )
    logs = np.log(trace.runtime / 10**8)
    assert logs.mean() == pytest.approx(0, abs=0.01)
    assert logs.std() == pytest.approx(0.7, abs=0.01)
    assert np.quantile(logs, 0.99) == pytest.approx(0.7 * NormalDist().inv_cdf(0.99), abs=0.05)


def test_runtimes_can_be_sampled_from_a_trace() -> None:
    runtimes = np.array([1000, 5000, 60_000], np.int64)
    trace = generate(spec(SEARCH, jobs=3000, runtimes=runtimes), 0)
    values, counts = np.unique_counts(trace.runtime)
    assert values.tolist() == runtimes.tolist()
    assert counts.min() > 900
    assert expected_jobs(spec(SEARCH, days=1, runtimes=runtimes)) == round(0.7 * 10 * 86_400 / 22)


def test_diurnal_arrivals_have_busy_days_quiet_nights_and_quieter_weekends() -> None:
    trace = generate(spec(SEARCH, days=28, jobs=50_000), 6)
    hour = trace.submitted_at // 3_600_000
    of_day, of_week = np.bincount(hour % 24, minlength=24), np.bincount(hour // 24 % 7, minlength=7)
    assert of_day[15] > 5 * of_day[4]
    assert of_week[5:].mean() == pytest.approx(0.4 * of_week[:5].mean(), rel=0.05)


def test_poisson_arrivals_are_alike_at_all_times() -> None:
    trace = generate(spec(SEARCH, days=10, jobs=24_000, arrivals=Arrivals.POISSON), 6)
    per_hour = np.bincount(trace.submitted_at // 3_600_000, minlength=240)
    assert per_hour.var() == pytest.approx(per_hour.mean(), rel=0.3)
    gaps = np.diff(trace.submitted_at)
    assert gaps.std() == pytest.approx(gaps.mean(), rel=0.05)


@pytest.mark.parametrize("days", [0.01, 0.5, 1.7])
def test_nothing_is_submitted_after_the_last_day(days: float) -> None:
    trace = generate(spec(SEARCH, days=days, jobs=5000), 6)
    assert trace.submitted_at.max() < days * DAY
    assert trace.submitted_at.max() > days * DAY * 0.8


def test_loads_that_make_no_job_are_refused() -> None:
    with pytest.raises(ValueError, match="no jobs"):
        generate(spec(ShareLoad(share="s", capacity={"ml.x": 1}, load=0)), 0)


def test_a_topology_s_shares_are_loaded_by_their_limits() -> None:
    topology = Topology.model_validate(
        {
            "name": "t",
            "capacity": {"ml.x": 4},
            "teams": {"a": {"shares": {"one": {"capacity": {"ml.x": 3}, "strategy": "LEND"}}}},
        }
    )
    assert shares_of(topology) == (ShareLoad(share="one", capacity={"ml.x": 3}),)


@settings(max_examples=50, deadline=None)
@given(st.floats(-600, 600))
def test_the_portable_exponential_is_the_exponential(x: float) -> None:
    assert exp(np.array([x]))[0] == pytest.approx(math.exp(x), rel=1e-12)


@settings(max_examples=50, deadline=None)
@given(st.floats(1e-300, 1e300))
def test_the_portable_logarithm_is_the_logarithm(x: float) -> None:
    assert log(np.array([x]))[0] == pytest.approx(math.log(x), rel=1e-12, abs=1e-12)


@settings(max_examples=50, deadline=None)
@given(st.floats(1e-15, 1 - 1e-15))
def test_the_portable_normal_quantile_is_the_normal_quantile(p: float) -> None:
    assert normal_quantile(np.array([p]))[0] == pytest.approx(NormalDist().inv_cdf(p), abs=1e-7)


def test_uniform_numbers_are_pinned_and_each_purpose_has_its_own() -> None:
    assert uniforms(2, 1, "a").tolist() == [0.5220974528031557, 0.028718976320721845]
    assert uniforms(2, 1, "b").tolist() != uniforms(2, 1, "a").tolist()
    assert uniforms(3, 1, "a").tolist()[:2] == uniforms(2, 1, "a").tolist()


def test_choices_follow_their_weights_to_the_last_uniform_number() -> None:
    edge = np.array([0.0, 0.2499, 0.25, 1 - 2**-53])
    assert choices(edge, (1, 3)).tolist() == [0, 0, 1, 1]
