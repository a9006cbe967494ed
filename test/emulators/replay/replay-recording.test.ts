import { expect, test } from "vitest";
import { compareAnswers } from "./compare-answers.ts";
import { flattenBody } from "./flatten-body.ts";
import { readRecording } from "./read-recording.ts";
import { renderReplay } from "./replay-file.ts";
import { type ReplayedRequest, replayRecording } from "./replay-recording.ts";

const head = '{"format":"millwright-cloud-recording/1","startedAt":"2026-01-01T00:00:00.000Z"}';
const line = (exchange: object): string =>
  JSON.stringify({
    driver: "aws",
    method: "POST",
    url: "https://ec2.eu-west-1.amazonaws.com/",
    status: 200,
    ...exchange,
  });
const recordingOf = (...exchanges: readonly object[]) => readRecording([head, ...exchanges.map(line), ""].join("\n"));

/** A cloud with these responses, one after another, that records its requests. */
function targetOf(...answers: readonly { status?: number; body?: string; headers?: Record<string, string> }[]) {
  const asked: ReplayedRequest[] = [];
  const target = {
    origin: "http://127.0.0.1:1",
    isLogin: ({ requestBody }: { readonly requestBody: string }) => requestBody === "login",
    send: (request: ReplayedRequest) => {
      const { status = 200, body = "", headers = {} } = answers[asked.push(request) - 1] ?? {};
      return Promise.resolve({ status, body, headers });
    },
  };
  return { target, asked };
}

test("sends the requests of a recording to the emulator, with the IDs of the emulator", async () => {
  const { target, asked } = targetOf({ body: "<a><instanceId>i-00000002</instanceId></a>" }, { body: "<a/>" });
  const exchanges = recordingOf(
    { requestBody: "Action=RunInstances", responseBody: "<a><instanceId>i-00000001</instanceId></a>" },
    { requestBody: "Action=TerminateInstances&InstanceId.1=i-00000001", responseBody: "<a/>" },
  );
  expect(await replayRecording(exchanges, target)).toEqual([
    { request: "POST / RunInstances", differences: [] },
    { request: "POST / TerminateInstances", differences: [] },
  ]);
  expect(asked.map(({ url, body }) => `${url} ${body}`)).toEqual([
    "http://127.0.0.1:1/ Action=RunInstances",
    "http://127.0.0.1:1/ Action=TerminateInstances&InstanceId.1=i-00000002",
  ]);
});

test("replaces the URLs of operations by those of the emulator", async () => {
  const operation = "https://management.azure.com/operations/0f0e0d0c?api-version=1";
  const own = "http://127.0.0.1:1/operations/99999999?api-version=1";
  const { target, asked } = targetOf({ status: 202, headers: { "azure-asyncoperation": own } }, { body: "{}" });
  const exchanges = recordingOf(
    {
      method: "PUT",
      url: "https://management.azure.com/vm",
      status: 202,
      responseHeaders: { "azure-asyncoperation": operation },
    },
    { method: "GET", url: operation, responseBody: "{}" },
  );
  await replayRecording(exchanges, target);
  expect(asked.at(-1)?.url).toBe(own);
});

test("skips requests without a response, for tokens, and with truncated bodies", async () => {
  const { target, asked } = targetOf();
  const exchanges = recordingOf(
    { status: undefined, error: "ECONNRESET" },
    { requestBody: "login" },
    { responseBody: "(left out: 2000000 bytes)" },
  );
  const replayed = await replayRecording(exchanges, target);
  expect(replayed.map(({ skipped }) => skipped)).toEqual(["no answer", "login", "body left out"]);
  expect(asked).toEqual([]);
});

test("replaces placeholders by values in the format of the cloud, equal ones by equal ones", () => {
  const [exchange] = recordingOf({
    url: "https://compute.googleapis.com/projects/<project-1>/x?a=%3Caccount-2%3E",
    requestBody: "UserData=%3Cuser-data-1%3E",
    responseBody: "<ownerId><account-2></ownerId><key>&lt;key-1&gt;</key>",
  });
  expect(exchange).toMatchObject({
    url: "https://compute.googleapis.com/projects/project-1/x?a=000000000002",
    requestBody: `UserData=${Buffer.from("user data 1").toString("base64")}`,
    responseBody: "<ownerId>000000000002</ownerId><key>key-1</key>",
  });
});

test.each([
  ["no head", line({}), "line 1 is not the head of a recording"],
  ["half a line", `${head}\n{"driver":`, "line 2 is not a recorded exchange"],
])("refuses a file with %s", (_, text, message) => {
  expect(() => readRecording(text)).toThrow(message);
});

test.each<readonly [string, string, string, readonly unknown[]]>([
  ["nothing, where values alone differ", '{"id":"a","n":1}', '{"n":2,"id":"b"}', []],
  [
    "a field that the emulator leaves out",
    '{"id":"a","etag":"x"}',
    '{"id":"a"}',
    [{ field: "etag", cloud: "text", emulator: "absent" }],
  ],
  [
    "a field that the cloud does not have",
    '{"id":"a"}',
    '{"id":"a","more":1}',
    [{ field: "more", cloud: "absent", emulator: "number" }],
  ],
  ["another type", '{"count":"3"}', '{"count":3}', [{ field: "count", cloud: "text", emulator: "number" }]],
  [
    "an object that the emulator leaves out, without its parts",
    '{"plan":{"name":"x","deep":[1]},"planned":1}',
    "{}",
    [
      { field: "plan", cloud: "object", emulator: "absent" },
      { field: "planned", cloud: "number", emulator: "absent" },
    ],
  ],
  [
    "a field of some items",
    '[{"a":1},{"a":1,"b":2}]',
    '[{"a":1}]',
    [{ field: "[].b", cloud: "number", emulator: "absent" }],
  ],
  [
    "a time for a text",
    "<a><t>2026-01-01T00:00:00Z</t></a>",
    "<a><t>soon</t></a>",
    [{ field: "a.t", cloud: "time", emulator: "text" }],
  ],
  ["nothing, where a field is empty on one side", "<a><reason/></a>", "<a><reason>x</reason></a>", []],
  [
    "a body that is neither JSON nor XML",
    "{}",
    "oh no",
    [{ field: "body", cloud: "JSON or XML", emulator: "neither JSON nor XML" }],
  ],
])("reports %s", (_, cloud, emulator, expected) => {
  expect(compareAnswers({ status: 200, body: cloud }, { status: 200, body: emulator })).toEqual(expected);
});

test("reports another status without fields of the different response", () => {
  expect(compareAnswers({ status: 404, body: '{"error":{}}' }, { status: 200, body: '{"id":"a"}' })).toEqual([
    { field: "status", cloud: "404", emulator: "200" },
  ]);
});

test("reads XML lists as lists, and ignores attributes", () => {
  const fields = flattenBody(
    '<?xml version="1.0"?><r xmlns="x"><set><item><id>i-1</id></item><item><id>i-2</id></item></set><n>3</n></r>',
  );
  expect(fields?.map(({ at, type }) => `${at}: ${type}`)).toEqual([
    ": object",
    "r: object",
    "r.set: list",
    "r.set[0]: object",
    "r.set[0].id: text",
    "r.set[1]: object",
    "r.set[1].id: text",
    "r.n: number",
  ]);
});

test("prints each difference once with its count", () => {
  const differences = [{ field: "etag", cloud: "text", emulator: "absent" }];
  const exchanges = [
    { request: "GET /vm", differences },
    { request: "GET /vm", differences: [...differences, { field: "plan", cloud: "object", emulator: "absent" }] },
    { request: "POST /token", skipped: "login" as const, differences: [] },
  ];
  expect(renderReplay(new Map([["azure", exchanges]]))).toBe(
    [
      "azure: 3 exchanges, 1 not replayed",
      "  not replayed (login): 1",
      "  GET /vm",
      "    etag: cloud text, emulator absent (2x)",
      "    plan: cloud object, emulator absent (1x)",
    ].join("\n"),
  );
});
