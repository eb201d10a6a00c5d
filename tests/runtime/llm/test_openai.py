"""The provider on the official SDK, against a real server on this machine."""

import asyncio
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import anyio
import openai
import pytest
from circlet.runtime.errors import (
    CircletError,
    ContextLimit,
    LLMError,
    MalformedReply,
    ProviderError,
)
from circlet.runtime.llm import (
    Message,
    OpenAILLM,
    Reply,
    Request,
    Retry,
    Tool,
    ToolCall,
    Usage,
    llm,
    with_retry,
)

KEY = "sk-proj-very-secret-0123"
HELLO = Request([Message("user", "hello")])
OK = {"choices": [{"message": {"content": "ok"}, "finish_reason": "stop"}]}


class Endpoint:
    """A server that gives the answers it was told to, in order, and keeps what it was sent."""

    def __init__(self):
        self.answers = []
        self.bodies = []
        self.headers = []
        self.paths = []
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                endpoint.answer(self)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"

    def says(self, body, status=200, **headers):
        self.answers.append((status, headers, body))

    def answer(self, handler):
        sent = handler.rfile.read(int(handler.headers["Content-Length"]))
        self.bodies.append(json.loads(sent))
        self.headers.append({name.lower(): text for name, text in handler.headers.items()})
        self.paths.append(handler.path)
        status, headers, body = self.answers.pop(0)
        if status is None:
            handler.close_connection = True  # hang up without a word
            return
        data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        handler.send_response(status)
        for name, value in {"Content-Type": "application/json", **headers}.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data)


@pytest.fixture(autouse=True)
def _directly(monkeypatch):
    """No proxy of this machine's stands between."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


@pytest.fixture
def endpoint():
    endpoint = Endpoint()
    thread = threading.Thread(target=endpoint.server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield endpoint
    endpoint.server.shutdown()
    endpoint.server.server_close()
    thread.join()


@pytest.fixture
def model(endpoint, monkeypatch):
    """OpenAI's own provider, pointed at the endpoint."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
    return llm("openai:gpt-5.1")


def ask(model, request=HELLO):
    async def query():
        try:
            return await model.query(request)
        finally:
            await model.aclose()

    return anyio.run(query)


def error(message, **fields):
    return {"error": {"message": message, "type": None, "param": None, "code": None} | fields}


def test_a_reply(endpoint, model):
    """LLM-6: content, calls, and usage with its cached tokens arrive normalised."""
    endpoint.says(
        {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "model": "gpt-5.1-2025-11-13",
            "choices": [
                {
                    "index": 0,
                    "finish_reason": "tool_calls",
                    "message": {
                        "role": "assistant",
                        "content": None,
                        "tool_calls": [
                            {
                                "id": "call_a",
                                "type": "function",
                                "function": {"name": "echo", "arguments": '{"text": "a"}'},
                            },
                            {
                                "id": "call_b",
                                "type": "function",
                                "function": {"name": "echo", "arguments": '{"text": '},
                            },
                        ],
                    },
                }
            ],
            "usage": {
                "prompt_tokens": 100,
                "completion_tokens": 20,
                "total_tokens": 120,
                "prompt_tokens_details": {"cached_tokens": 64},
            },
        }
    )
    assert ask(model) == Reply(
        tool_calls=(
            ToolCall("call_a", "echo", {"text": "a"}),
            ToolCall("call_b", "echo", {}, malformed='{"text": '),
        ),
        usage=Usage(100, 20, 64),
        stop_reason="tool_calls",
        model="gpt-5.1-2025-11-13",
    )


def test_a_request(endpoint, model):
    """LLM-1, LLM-5, IDENTITY-3: messages, tools in order, choice and settings reach the server."""
    endpoint.says(OK)
    calls = [ToolCall("call_1", "echo", {"text": "ä"}), ToolCall("call_2", "echo", {}, "{")]
    ask(
        model,
        Request(
            [
                Message("system", "be brief"),
                Message("user", "half a pair: \ud83d"),
                Message("assistant", None, calls),
                Message("tool", "ä", tool_call_id="call_1"),
                Message("tool", None, tool_call_id="call_2"),
            ],
            tools=[Tool(name, "A gate.", {"type": "object"}) for name in ("done", "echo")],
            tool_choice="required",
            hyperparameters={"temperature": 0.5, "max_tokens": 50, "made_up": [1]},
        ),
    )

    def function(name):
        spec = {"name": name, "description": "A gate.", "parameters": {"type": "object"}}
        return {"type": "function", "function": spec}

    def call(call_id, arguments):
        function = {"name": "echo", "arguments": arguments}
        return {"id": call_id, "type": "function", "function": function}

    assert endpoint.paths == ["/v1/chat/completions"]
    assert endpoint.headers[0]["authorization"] == f"Bearer {KEY}"
    assert endpoint.bodies == [
        {
            "model": "gpt-5.1",
            "messages": [
                {"role": "system", "content": "be brief"},
                {"role": "user", "content": "half a pair: \ufffd"},
                {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [
                        call("call_1", json.dumps({"text": "ä"})),
                        call("call_2", json.dumps({"malformed": "{"})),
                    ],
                },
                {"role": "tool", "content": "ä", "tool_call_id": "call_1"},
                {"role": "tool", "content": "", "tool_call_id": "call_2"},
            ],
            "tools": [function("done"), function("echo")],
            "tool_choice": "required",
            "temperature": 0.5,
            "max_completion_tokens": 50,
            "made_up": [1],
        }
    ]


@pytest.mark.parametrize(
    ("choice", "sent"),
    [
        (None, None),
        ("auto", "auto"),
        ("echo", {"type": "function", "function": {"name": "echo"}}),
    ],
)
def test_the_choice_of_a_tool(endpoint, model, choice, sent):
    """LLM-5: a choice is sent as it is, a tool's name in the provider's form."""
    endpoint.says(OK)
    tools = [Tool("echo", "Say it again.", {"type": "object"})]
    ask(model, Request(HELLO.messages, tools=tools, tool_choice=choice))
    assert endpoint.bodies[0].get("tool_choice") == sent


def test_no_choice_without_tools(endpoint, model):
    """LLM-5: a choice among no tools isn't sent, for the provider would refuse it."""
    endpoint.says(OK)
    ask(model, Request(HELLO.messages, tool_choice="required"))
    assert endpoint.bodies[0].keys() == {"model", "messages"}


def test_a_local_server_gets_no_key(endpoint, monkeypatch):
    """PROD-8: OpenAI's key goes to OpenAI alone; a local server knows `max_tokens`."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    endpoint.says(OK)
    local = llm(f"local:{endpoint.url}#qwen")
    assert ask(local, Request(HELLO.messages, hyperparameters={"max_tokens": 5})).content == "ok"
    assert KEY not in str(endpoint.headers)
    assert endpoint.bodies[0]["model"] == "qwen"
    assert endpoint.bodies[0]["max_tokens"] == 5


def test_a_local_servers_own_key(endpoint, monkeypatch):
    """A local server that wants a key gets the one in LOCAL_API_KEY."""
    monkeypatch.setenv("LOCAL_API_KEY", KEY)
    endpoint.says(OK)
    assert ask(llm(f"local:{endpoint.url}#qwen"), HELLO).content == "ok"
    assert KEY in str(endpoint.headers)


def test_a_client_of_ones_own(endpoint):
    """LLM-6: a client that is passed in is used, and left open for whoever made it."""
    endpoint.says(OK)
    endpoint.says(OK)

    async def both():
        async with openai.AsyncOpenAI(api_key=KEY, base_url=endpoint.url, max_retries=0) as client:
            model = OpenAILLM("m", client=client)
            first = await model.query(HELLO)
            await model.aclose()
            return first, await model.query(HELLO)

    assert [reply.content for reply in anyio.run(both)] == ["ok", "ok"]


def test_one_model_in_two_event_loops(endpoint, model):
    """CANTRIP-2: a model is a reusable value, though connections belong to one event loop."""
    with asyncio.Runner() as one, asyncio.Runner() as two:
        for loop in (one, two, one, two):
            endpoint.says(OK)
            assert loop.run(model.query(HELLO)).content == "ok"
        for loop in (one, two):
            loop.run(model.aclose())


def test_a_closed_model_can_be_asked_again(endpoint, model):
    """LLM-1: closing gives up connections, not the model."""
    for _ in range(2):
        endpoint.says(OK)
        assert ask(model).content == "ok"


def test_a_refused_key(endpoint, model):
    """PROD-2, PROD-8: a 401 is final; its error names the variable, and never the key."""
    endpoint.says(error(f"Incorrect API key\nprovided: {KEY}."), 401)
    with pytest.raises(ProviderError) as caught:
        ask(model)
    assert str(caught.value) == (
        "openai answered 401: Incorrect API key provided: ***.; check OPENAI_API_KEY"
    )
    assert caught.value.status == 401


def test_an_unknown_model(endpoint, model):
    """LLM-6: a 404 names the model that was asked for."""
    endpoint.says(error("The model does not exist", code="model_not_found"), 404)
    with pytest.raises(ProviderError, match=r"answered 404: The model .*'gpt-5.1'") as caught:
        ask(model)
    assert caught.value.status == 404


@pytest.mark.parametrize("answer", [error("try later"), "try later", "", "{}"])
@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_passing_failure(endpoint, model, status, answer):
    """PROD-2: the SDK doesn't retry by itself; whatever the body, the error has the status."""
    endpoint.says(answer, status)
    with pytest.raises(ProviderError, match=f"^openai answered {status}: ") as caught:
        ask(model)
    assert caught.value.status == status
    assert len(endpoint.bodies) == 1


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"Retry_After": "7"}, 7.0),
        ({"Retry_After": "0.5"}, 0.5),
        ({"Retry_After_Ms": "250", "Retry_After": "7"}, 0.25),
        ({"Retry_After": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({"Retry_After": "soon"}, None),
        ({"Retry_After_Ms": "nan"}, None),
        ({"Retry_After_Ms": "-5"}, 0.0),
    ],
)
def test_the_wait_that_is_asked_for(endpoint, model, headers, seconds):
    """PROD-2: each way to ask for a wait is understood; nonsense is no wait."""
    endpoint.says(error("slow down"), 429, **headers)
    with pytest.raises(ProviderError) as caught:
        ask(model)
    assert caught.value.retry_after_s == seconds


def test_a_retry_that_succeeds(endpoint, model):
    """PROD-2: through `with_retry`, a 429 and a lost connection stay out of sight."""
    endpoint.says(error("slow down"), 429, Retry_After="9")
    endpoint.says(None, None)
    endpoint.says(OK)
    waits = []

    async def sleep(seconds):
        waits.append(seconds)

    async def query():
        reply = await with_retry(model, HELLO, Retry(), sleep, jitter=lambda: 0.0)
        await model.aclose()
        return reply

    assert anyio.run(query).content == "ok"
    assert waits == [9.0, 2.0]
    assert endpoint.bodies[0] == endpoint.bodies[1] == endpoint.bodies[2]


@pytest.mark.parametrize(
    "answer",
    [
        error("too long", code="context_length_exceeded"),
        error("This model's maximum context length is 8192 tokens."),
        error("the request is too large", type="exceed_context_size_error"),
    ],
)
def test_too_long_a_context(endpoint, model, answer):
    """LLM-2: messages past the model's limit are a structured error, in every wording."""
    endpoint.says(answer, 400)
    with pytest.raises(ContextLimit, match=r"answered 400: .*; fold or shorten") as caught:
        ask(model)
    assert caught.value.status == 400


def test_an_error_with_status_200(endpoint, model):
    """PROD-2: an error inside a good answer is one all the same, and names the provider."""
    endpoint.says({"error": {"message": "upstream is busy", "code": 502}})
    with pytest.raises(ProviderError, match=r"^openai: .*upstream is busy$") as caught:
        ask(model)
    assert caught.value.status == 502


@pytest.mark.parametrize("answer", ["<html>sign in</html>", "", "[]"])
def test_an_answer_that_is_something_else(endpoint, model, answer):
    """LLM-6: a page or nothing in place of a reply is told apart, with how it begins."""
    endpoint.says(answer)
    with pytest.raises(MalformedReply, match=r"openai answered no JSON object.*check the endpoint"):
        ask(model)


def test_an_empty_reply(endpoint, model):
    """LLM-3: a real provider's empty reply is refused too."""
    endpoint.says({"choices": [{"message": {"content": ""}, "finish_reason": "stop"}]})
    with pytest.raises(MalformedReply, match="llm returned neither content nor tool_calls"):
        ask(model)


def test_a_reply_that_was_cut_off(endpoint, model):
    """LLM-3: a reply that was cut off before it began says so."""
    endpoint.says({"choices": [{"message": {"content": ""}, "finish_reason": "length"}]})
    with pytest.raises(MalformedReply, match="raise max_tokens"):
        ask(model)


def test_nobody_there():
    """PROD-2: a server that can't be reached has no status, and is named."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    port = server.server_port
    server.server_close()
    with pytest.raises(ProviderError, match=r"^local can't be reached at 127.0.0.1: ") as caught:
        ask(llm(f"local:http://127.0.0.1:{port}/v1#m"))
    assert caught.value.status is None


def test_no_answer_in_time():
    """PROD-2: a server that accepts and stays silent is a failure without a status."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)  # never serves
    try:
        silent = llm(f"local:http://127.0.0.1:{server.server_port}/v1#m", timeout_s=0.05)
        with pytest.raises(ProviderError, match=r"^local did not answer within 0.05 s$") as caught:
            ask(silent)
    finally:
        server.server_close()
    assert caught.value.status is None


def test_unlinked_messages_are_not_sent(endpoint, model):
    """LLM-7: a context whose calls and results don't match never reaches the provider."""
    with pytest.raises(MalformedReply, match="tool result without matching tool call"):
        ask(model, Request([Message("user", "go"), Message("tool", "a", tool_call_id="call_1")]))
    assert endpoint.bodies == []


@pytest.mark.parametrize("name", ["model", "messages", "tools", "tool_choice", "stream", "n"])
def test_hyperparameters_stay_in_their_place(endpoint, model, name):
    """IDENTITY-3: no hyperparameter overwrites what the circle says."""
    with pytest.raises(LLMError, match=f"hyperparameter '{name}' is set by the request itself"):
        ask(model, Request(HELLO.messages, hyperparameters={name: 1}))


@pytest.mark.parametrize("status", [200, 400, 401, 403, 404, 429, 500])
def test_no_error_shows_the_key(endpoint, model, status):
    """PROD-8: a server that repeats the key puts it into no error, and no error runs on."""
    endpoint.says(error(f"your key {KEY} " * 1000), status)
    with pytest.raises(CircletError) as caught:
        ask(model)
    assert KEY not in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500
