"""Resuming: whatever record is the last one, the cast comes to what it would have come to.

A loom that is cut off after a record is what a kill right after it leaves. So is what the gates
had done by then, but for a call that had begun: it may or may not have happened.
"""

from collections import Counter
from json import loads

import pytest
from circlet import Cantrip, Circle, Loom, ScriptedLLM, gate
from circlet.runtime.loom import CallRecord, EndRecord, NodeRecord, ReplyRecord, ResumeRecord

USAGE = {"prompt_tokens": 10, "completion_tokens": 5}


def run(source):
    return {"code": source}


def call(name, **args):
    return {"tool_calls": [{"gate": name, "args": args}]}


class Book:
    """What a gate has done outside: it stays when a process dies."""

    def __init__(self, entries=()):
        self.entries = list(entries)

    def gates(self):
        @gate
        def enter(what: str) -> int:
            """Enter something: it stands there as often as it was entered."""
            self.entries.append(what)
            return len(what)

        @gate(idempotent=True)
        def entered() -> list:
            """All that was entered."""
            return list(self.entries)

        return [enter, entered]


class Story:
    """A cantrip over and over: each with a fresh model, and its own loom and book."""

    def __init__(self, replies, *, medium="code", wards=(), intent="root", **fields):
        self.replies = replies
        self.medium = medium
        self.wards = [{"max_turns": 10}, {"max_depth": 2}, *wards]
        self.intent = intent
        self.fields = fields
        self.book = Book()
        whole = self.cantrip(self.book)
        self.cast = whole.cast(intent, context=["the", "data"])
        self.records = [record for *_, record in whole.loom.records()]
        self.requests = [request.neutral() for request in whole.llm.requests]

    def cantrip(self, book, records=()):
        loom = Loom()
        for record in records:
            loom.append(record)
        gates = ["done", "call_entity", "call_entity_batch", *book.gates()]
        return Cantrip(
            llm=ScriptedLLM(self.replies, usage=USAGE),
            circle=Circle(medium=self.medium, gates=gates, wards=self.wards),
            loom=loom,
            **self.fields,
        )

    def resumed(self, records, happened=True):
        """The cast as it comes out of these records; the cantrip, and the book by then."""
        book = Book(what for what, is_over in entered_in(records) if is_over or happened)
        cantrip = self.cantrip(book, records)
        return cantrip.resume(), cantrip, book

    def check(self, records, happened=True):
        """See that nothing is another than in the whole story, but for what was interrupted."""
        again, cantrip, book = self.resumed(records, happened)
        now = [record for *_, record in cantrip.loom.records()]
        assert again.result == self.cast.result
        assert shape(now) == shape(self.records)
        assert sorted(book.entries) == sorted(self.book.entries)
        assert figures(again) == figures(self.cast)
        assert not any(one.difference for one in now if isinstance(one, ResumeRecord))
        return now, [request.neutral() for request in cantrip.llm.requests]


def entered_in(records):
    """What was entered by the record, and whether the call had ended."""
    calls = {}
    for record in records:
        if isinstance(record, CallRecord) and record.gate == "enter":
            calls[record.entity, record.turn, record.k] = record
    for record in calls.values():
        if not record.is_error:
            yield loads(record.arguments_text)["what"], record.state == "ended"


def shape(records):
    """The nodes, utterances and ends of a tree, however their entities are called."""
    shapes = Counter()
    for one in records:
        if isinstance(one, NodeRecord):
            shapes["node", one.turn, one.part, one.last, one.sequence, len(one.delegated)] += 1
        elif isinstance(one, ReplyRecord):
            shapes["reply", one.turn, one.reply.content, one.reply.usage] += 1
        elif isinstance(one, EndRecord):
            shapes["end", one.cast, one.outcome, one.result] += 1
    return shapes


def figures(cast):
    return cast.turns, cast.usage, cast.entities, cast.tree_turns, cast.max_depth, cast.reason


def has_open_call(records):
    return any(not is_over for _, is_over in entered_in(records))


SAFELY = """
def safely(what):
    try:
        enter(what)
    except GateInterrupted:
        if what not in entered():
            enter(what)
"""
TREE = {
    "^root": [
        run(SAFELY + "import random\nluck = [random.random()]\nsafely('root 1')\nprint(context)"),
        run(
            "one = call_entity('leaf', context=('a', {1: (2,)}))\nprint('between')\n"
            "safely('root 2')\n"
            "many = call_entity_batch([{'intent': kind, 'context': (name,)} for kind, name in "
            "[('mid', 'b'), ('leaf', 'c'), ('slow', 'd'), ('bad', 'e')]])\nprint(many)"
        ),
        run("luck.append(random.random())\nsafely('root 3')\n1/0"),
        run("done([one, [str(each) for each in many], luck[:0], sorted(entered())])"),
    ],
    "^mid": [
        run("got = call_entity('leaf', context=('f',))"),
        run(SAFELY + "safely('mid')\ndone(['mid', got])"),
    ],
    "^leaf": [run(SAFELY + "safely('leaf ' + context[0])\nx = context"), run("done(x)")],
    "^slow": [run("x = 1")] * 10,
    "^bad": [{"error": {"status": 400, "message": "no: such request"}}],
}


@pytest.fixture(scope="module")
def tree():
    """Two levels of children, a batch with a failure and a truncation in it; one at a time."""
    return Story(TREE, wards=[{"max_concurrent": 1}])


def test_killed_after_every_record(tree):
    """The same result, the same nodes, nothing done twice, and the same requests to the byte."""
    for count in range(2, len(tree.records) + 1):
        records = tree.records[:count]
        for happened in (True, False) if has_open_call(records) else (True,):
            _, requests = tree.check(records, happened)
            assert not [one for one in requests if one not in tree.requests], count


def test_killed_again_while_it_goes_on(tree):
    """A cast that is resumed and dies again is resumed again, from wherever it had come to."""
    for count in (9, 24, len(tree.records) // 2):
        now, _ = tree.check(tree.records[:count])
        for later in range(count + 1, len(now), 4):
            tree.check(now[:later])


def test_children_at_the_same_time():
    """COMP-3: a batch keeps its order, whichever of its children had ended, begun, or neither."""
    batch = Story(
        {
            "^root": [
                run(
                    "xs = call_entity_batch([{'intent': f'leaf {n}', 'context': n} "
                    "for n in range(4)])\nenter('root')\ndone(xs)"
                )
            ],
            "^leaf": [run("y = context * 10"), run("done(y)")],
        }
    )
    for count in range(3, len(batch.records)):
        records = batch.records[:count]
        if not has_open_call(records):
            batch.check(records)


def test_a_shared_script():
    """COMP-3: replies that children claimed when they were spawned are theirs after all."""
    shared = Story(
        [
            run("a = 1"),
            run("b = call_entity_batch(['x', 'y', 'z'])"),
            run("done('for x')"),
            {"content": "for y, in text"},
            run("done('for z')"),
            {"error": {"status": 429, "message": "later"}},
            run("c = call_entity('w')"),
            run("done('for w')"),
            run("done([b, c])"),
        ],
        wards=[{"max_concurrent": 1}],
        retry={"base_s": 0.0},
    )
    assert shared.cast.result == [["for x", "for y, in text", "for z"], "for w"]
    for count in range(2, len(shared.records)):
        shared.check(shared.records[:count])


def test_a_conversation():
    """Gates that the model calls itself are answered from the record too."""
    replies = [
        {"tool_calls": [{"gate": "enter", "args": {"what": w}} for w in ("one", "two")]},
        {"tool_calls": [{"gate": "nope", "args": {}}, {"gate": "enter", "args": {"wrong": 1}}]},
        call("entered"),
        call("call_entity", request={"intent": "child"}),
        {"content": "a child's answer"},
        {"content": "the answer"},
    ]
    chat = Story(replies, medium="conversation", identity={"system_prompt": "Be brief."})
    for count in range(2, len(chat.records)):
        records = chat.records[:count]
        if has_open_call(records):
            continue
        _, requests = chat.check(records)
        assert requests == chat.requests[len(chat.requests) - len(requests) :]


def test_done_without_its_end():
    """LOOP-3: an answer that was handed in and has no end on record is no second query."""
    for medium, reply in (
        ("code", run("x = {1: (2,)}\ndone(x)")),
        ("code", {"content": "in text"}),
        ("conversation", call("done", answer=[1])),
        ("conversation", {"content": "in text"}),
    ):
        story = Story([reply], medium=medium)
        _, requests = story.check(story.records[:-1])
        assert requests == []


def test_an_ended_cast_is_told_of():
    """A cast that has ended gives what it came to, and nothing is run."""
    story = Story({"^root": [run("enter('x')"), run("done(1.5)")]})
    again, cantrip, book = story.resumed(story.records)
    assert (again.result, figures(again)) == (1.5, figures(story.cast))
    assert len(list(cantrip.loom.records())) == len(story.records)
    assert cantrip.llm.requests == []
    assert book.entries == ["x"]
