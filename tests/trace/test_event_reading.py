"""Control events: what is read, in which order, and what is refused, where."""

import io

import pytest

from policy_engine.diagnostics import Finding, InputError
from policy_engine.topology import ResourceSharingStrategy, ShareState, Topology
from policy_engine.trace import (
    ControlEvent,
    JobTrace,
    SetShareState,
    Terminate,
    Unavailable,
    UpdateCapacity,
    UpdatePriority,
    UpdateShare,
    check_events,
    read_events,
    read_trace,
)

HEADER = "at,event,job,priority,share,limits,strategy,borrow_limit,in_share_preemption,state,unit,capacity,until"
FIELDS = HEADER.split(",")
TOPOLOGY = Topology.model_validate(
    {
        "name": "t",
        "capacity": {"ml.g5.xlarge": 4},
        "teams": {"a": {"shares": {"search": {"capacity": {"ml.g5.xlarge": 2}, "strategy": "LEND"}}}},
    }
)


def read(text: str, trace: JobTrace | None = None, topology: Topology | None = None) -> tuple[ControlEvent, ...]:
    return read_events(io.BytesIO(text.encode()), trace=trace, topology=topology)


def row(**fields: object) -> str:
    return ",".join(str(fields.get(field, "")) for field in FIELDS)


def findings(text: str, trace: JobTrace | None = None, topology: Topology | None = None) -> tuple[Finding, ...]:
    with pytest.raises(InputError) as caught:
        read(text, trace, topology)
    return caught.value.findings


def a_trace(submitted_at: str = "0") -> JobTrace:
    header = "job_id,share,submitted_at,instance_type,instance_count,runtime_seconds"
    return read_trace(io.BytesIO(f"{header}\nj1,search,{submitted_at},ml.g5.xlarge,1,60\n".encode()))


EVENTS: list[tuple[str, ControlEvent]] = [
    (row(at=1.5, event="update_priority", job="j1", priority=9999), UpdatePriority(at=1500, job="j1", priority=9999)),
    (
        row(at=2, event="update_share", share="s", limits="ml.x=2;ml.y=1", strategy="LEND", borrow_limit=-1),
        UpdateShare(
            at=2000,
            share="s",
            limits={"ml.x": 2, "ml.y": 1},
            strategy=ResourceSharingStrategy.LEND,
            borrow_limit=-1,
        ),
    ),
    (
        row(at=3, event="update_share", share="s", in_share_preemption="TRUE"),
        UpdateShare(at=3000, share="s", in_share_preemption=True),
    ),
    (
        row(at=4, event="set_share_state", share="s", state="DISABLED"),
        SetShareState(at=4000, share="s", state=ShareState.DISABLED),
    ),
    (row(at=5, event="update_capacity", unit="ml.x", capacity=0), UpdateCapacity(at=5000, unit="ml.x", capacity=0)),
    (row(at=6, event="terminate", job="j 1"), Terminate(at=6000, job="j 1")),
    (row(at=7, event="unavailable", unit="ml.x", until="1e1"), Unavailable(at=7000, unit="ml.x", until=10_000)),
]


@pytest.mark.parametrize(("text", "event"), EVENTS, ids=[event.event for _, event in EVENTS])
def test_each_event_is_read_from_csv(text: str, event: ControlEvent) -> None:
    assert read(f"{HEADER}\n{text}\n") == (event,)


def test_events_stand_by_time_and_those_of_one_time_in_file_order() -> None:
    rows = [row(at=at, event="terminate", job=job) for at, job in ((5, "a"), (1, "b"), (5, "c"), (1, "d"))]
    events = read("\n".join([HEADER, *rows]))
    assert [event.job for event in events if isinstance(event, Terminate)] == ["b", "d", "a", "c"]


def test_json_lines_take_objects_numbers_and_booleans() -> None:
    text = (
        '{"at": 1, "event": "update_share", "share": "s", "limits": {"ml.x": 2}, "in_share_preemption": false}\n'
        '{"at": 0.25, "event": "update_priority", "job": "j", "priority": 0}\n'
    )
    assert read(text) == (
        UpdatePriority(at=250, job="j", priority=0),
        UpdateShare(at=1000, share="s", limits={"ml.x": 2}, in_share_preemption=False),
    )


def test_a_file_without_events_is_no_events() -> None:
    assert read(HEADER + "\n") == ()


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"event": "terminate", "job": "j"}, [("TR032", "at")]),
        ({"at": -1, "event": "terminate", "job": "j"}, [("TR030", "at")]),
        ({"at": "nan", "event": "terminate", "job": "j"}, [("TR030", "at")]),
        ({"at": "1e18", "event": "terminate", "job": "j"}, [("TR030", "at")]),
        ({"at": "2026-01-01", "event": "terminate", "job": "j"}, [("TR030", "at")]),
        ({"at": 1}, [("TR031", "event")]),
        ({"at": 1, "event": "stop", "job": "j"}, [("TR031", "event")]),
        ({"at": 1, "event": "terminate"}, [("TR032", "job")]),
        ({"at": 1, "event": "terminate", "job": "j", "priority": 3}, [("TR032", "priority")]),
        ({"at": 1, "event": "update_priority", "job": "j", "priority": 10_000}, [("TR033", "priority")]),
        ({"at": 1, "event": "update_priority", "job": "j", "priority": "1.5"}, [("TR033", "priority")]),
        ({"at": 1, "event": "update_share", "share": "s"}, [("TR032", "limits")]),
        ({"at": 1, "event": "update_share", "share": "s", "limits": "ml.x=0"}, [("TR033", "limits")]),
        ({"at": 1, "event": "update_share", "share": "s", "limits": "ml.x"}, [("TR033", "limits")]),
        ({"at": 1, "event": "update_share", "share": "s", "limits": "ml.x=1;ml.x=2"}, [("TR033", "limits")]),
        ({"at": 1, "event": "update_share", "share": "s", "limits": "a=1;b=1;c=1;d=1;e=1;f=1"}, [("TR033", "limits")]),
        ({"at": 1, "event": "update_share", "share": "s", "limits": "{"}, [("TR033", "limits")]),
        ({"at": 1, "event": "update_share", "share": "s", "strategy": "lend"}, [("TR033", "strategy")]),
        ({"at": 1, "event": "update_share", "share": "s", "borrow_limit": -2}, [("TR033", "borrow_limit")]),
        (
            {"at": 1, "event": "update_share", "share": "s", "in_share_preemption": 1},
            [("TR033", "in_share_preemption")],
        ),
        ({"at": 1, "event": "set_share_state", "share": "s", "state": "on"}, [("TR033", "state")]),
        ({"at": 1, "event": "update_capacity", "unit": "u", "capacity": -1}, [("TR033", "capacity")]),
        ({"at": 5, "event": "unavailable", "unit": "u", "until": 5}, [("TR030", "until")]),
        ({"at": 5, "event": "update_priority", "priority": "x"}, [("TR032", "job"), ("TR033", "priority")]),
    ],
)
def test_a_bad_event_is_reported_by_field(fields: dict[str, object], expected: list[tuple[str, str]]) -> None:
    found = findings(f"{HEADER}\n{row(at=0, event='terminate', job='fine')}\n{row(**fields)}\n")
    assert [(finding.id, finding.path[0]) for finding in found] == expected
    assert {finding.position.line for finding in found if finding.position} == {3}


def test_all_faults_of_all_rows_are_reported_at_once() -> None:
    found = findings(f"{HEADER}\n{row(at=-1, event='terminate')}\nshort\n{row(at=1, event='x')}\n")
    assert [(f.id, f.position.line) for f in found if f.position] == [
        ("TR005", 3),
        ("TR032", 2),
        ("TR030", 2),
        ("TR031", 4),
    ]


def test_columns_that_events_do_not_have_are_refused() -> None:
    (unknown,) = findings("at,event,job,prio\n1,terminate,j,\n")
    assert (unknown.id, unknown.help) == ("TR004", "did you mean 'priority'?")
    assert [finding.id for finding in findings("at,job\n1,j\n")] == ["TR003"]


def test_jobs_shares_and_units_must_exist() -> None:
    rows = [
        row(at=0, event="terminate", job="j1"),
        row(at=1, event="terminate", job="j2"),
        row(at=2, event="set_share_state", share="serch", state="ENABLED"),
        row(at=3, event="update_share", share="search", limits="ml.g5.xlarge=1;ml.p5=1"),
        row(at=4, event="unavailable", unit="ml.g5.xlarg", until=9),
    ]
    text = "\n".join([HEADER, *rows])
    found = findings(text, a_trace(), TOPOLOGY)
    assert [(f.id, f.path[0], f.position.line) for f in found if f.position] == [
        ("TR034", "job", 3),
        ("TR034", "share", 4),
        ("TR034", "limits", 5),
        ("TR034", "unit", 6),
    ]
    assert found[1].help == "did you mean 'search'?"
    with pytest.raises(InputError) as caught:
        check_events(read(text), a_trace(), TOPOLOGY)
    assert [finding.message.split(",")[0] for finding in caught.value.findings] == [
        "event 2",
        "event 3",
        "event 4",
        "event 5",
    ]


def test_dates_count_from_the_start_of_a_trace_with_dates() -> None:
    trace = a_trace("2026-01-01T00:00:00Z")
    (event,) = read(f"{HEADER}\n{row(at='2026-01-01T01:00:00+00:30', event='terminate', job='j1')}\n", trace)
    assert event.at == 1_800_000
    (finding,) = findings(f"{HEADER}\n{row(at='2025-12-31', event='terminate', job='j1')}\n", trace)
    assert finding.id == "TR030"
