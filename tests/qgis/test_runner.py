# SPDX-License-Identifier: GPL-2.0-or-later
"""Threads: the hop to the main thread, a task with its events, waiting for it and ending it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from chat_case import settle, wait_until

from geo_olm.plugin.runner import MainThread, RunTask, finish, on_main_thread, start, wait

pytestmark = pytest.mark.usefixtures("qgis_app")


@pytest.fixture(autouse=True)
def no_task_is_left() -> Iterator[None]:
    yield
    settle()


class Boom(Exception):
    """An error of a test."""


def in_a_task(work: Callable[[Callable[[Any], None], Callable[[], bool]], None]) -> list[Any]:
    """Run work in a task to its end; return what it told."""
    told: list[Any] = []
    ended: list[Any] = []
    task = RunTask("test", work)
    task.told.connect(told.append)
    task.ended.connect(ended.append)
    start(task)
    wait_until(lambda: bool(ended))
    if ended[0] is not None:
        raise ended[0]
    return told


def test_a_task_calls_the_main_thread_and_gets_the_value() -> None:
    main = MainThread()
    told = in_a_task(
        lambda emit, _stopped: emit((on_main_thread(), main.call(lambda: (on_main_thread(), 42))))
    )
    assert told == [(False, (True, 42))]


def test_an_error_on_the_main_thread_is_raised_in_the_task() -> None:
    main = MainThread()

    def fail() -> None:
        raise Boom("here")

    def work(emit: Callable[[Any], None], _stopped: Callable[[], bool]) -> None:
        try:
            main.call(fail)
        except Boom as error:
            emit(str(error))

    assert in_a_task(work) == ["here"]


def test_on_the_main_thread_the_call_is_made_at_once() -> None:
    assert MainThread().call(on_main_thread) is True


def test_a_plain_thread_reaches_the_main_thread_too() -> None:
    main, found = MainThread(), []
    thread = threading.Thread(target=lambda: found.append(main.call(on_main_thread)))
    thread.start()
    wait_until(lambda: not thread.is_alive())
    assert found == [True]


def test_a_caller_made_on_a_worker_hops_to_the_main_thread() -> None:
    found: list[bool] = []
    thread = threading.Thread(target=lambda: found.append(MainThread().call(on_main_thread)))
    thread.start()
    wait_until(lambda: not thread.is_alive())
    assert found == [True]


def test_events_come_in_order_on_the_main_thread_before_the_end() -> None:
    seen: list[Any] = []

    def work(emit: Callable[[Any], None], _stopped: Callable[[], bool]) -> None:
        for number in range(200):
            emit(number)

    task = RunTask("test", work)
    task.told.connect(lambda number: seen.append((number, on_main_thread())))
    task.ended.connect(lambda error: seen.append(error))
    start(task)
    wait_until(lambda: seen[-1:] == [None])
    assert seen == [*((number, True) for number in range(200)), None]


def test_wait_spins_until_the_end_so_that_the_worker_can_hop() -> None:
    main, found = MainThread(), []
    wait(RunTask("test", lambda _emit, _stopped: found.append(main.call(lambda: 7))), lambda: False)
    assert found == [7]


def test_wait_raises_what_the_work_raised() -> None:
    def work(_emit: Callable[[Any], None], _stopped: Callable[[], bool]) -> None:
        raise Boom("in the work")

    with pytest.raises(Boom, match="in the work"):
        wait(RunTask("test", work), lambda: False)


def sleepy(_emit: Callable[[Any], None], stopped: Callable[[], bool]) -> None:
    while not stopped():
        time.sleep(0.01)


def test_wait_passes_a_stop_on_to_the_task() -> None:
    until = time.monotonic() + 0.3
    started = time.monotonic()
    wait(RunTask("test", sleepy), lambda: time.monotonic() > until)
    assert 0.25 < time.monotonic() - started < 2.0


def test_finish_ends_a_running_task_that_needs_the_main_thread() -> None:
    main = MainThread()
    running = threading.Event()

    def work(_emit: Callable[[Any], None], stopped: Callable[[], bool]) -> None:
        while not stopped():
            main.call(running.set)
            time.sleep(0.005)

    task = start(RunTask("test", work))
    wait_until(running.is_set)
    started = time.monotonic()
    assert finish(task, 5.0)
    assert time.monotonic() - started < 2.0


def test_finish_ends_a_task_that_has_not_begun() -> None:
    assert finish(start(RunTask("test", sleepy)), 5.0)


def test_finish_gives_up_on_a_task_that_does_not_listen() -> None:
    free = threading.Event()
    running = threading.Event()

    def work(_emit: Callable[[Any], None], _stopped: Callable[[], bool]) -> None:
        running.set()
        free.wait(5)

    task = start(RunTask("test", work))
    wait_until(running.is_set)
    assert not finish(task, 0.2)
    free.set()
