import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Secret } from "@millwright/base";
import type { CloudExchange } from "@millwright/core";
import { createVirtualClock } from "@millwright/core/testing";
import { expect, onTestFinished, test } from "vitest";
import { openCloudRecorder } from "./cloud-recorder.ts";

const exchange: CloudExchange = {
  method: "GET",
  url: "https://management.azure.com/subscriptions/sub-1/x?api-version=1",
  requestHeaders: { authorization: "Bearer t0ken" },
  requestBody: "",
  status: 200,
  responseHeaders: { "content-type": "application/json" },
  responseBody: '{"value":"s3cret-value"}',
  seconds: 0.25,
};

async function aRecorder(maxBytes?: number) {
  const folder = await mkdtemp(join(tmpdir(), "recording-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, "cloud.jsonl");
  const logged: string[] = [];
  const recorder = await openCloudRecorder({
    file,
    clock: createVirtualClock(),
    log: (_, message, fields) => void logged.push(`${message}: ${String(fields?.["because"])}`),
    ...(maxBytes === undefined ? {} : { maxBytes }),
  });
  const linesOf = async (): Promise<Record<string, unknown>[]> =>
    (await readFile(file, "utf8"))
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
  return { recorder, file, linesOf, logged };
}

test("writes exchanges in order, without secrets, into a file that only its owner may read", async () => {
  const { recorder, file, linesOf } = await aRecorder();
  recorder.protect({ clientSecret: Secret.of("s3cret-value") });
  recorder.record("azure", exchange);
  recorder.record("azure", { ...exchange, method: "DELETE" });
  await recorder.close();
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await linesOf()).toEqual([
    { format: "millwright-cloud-recording/1", startedAt: expect.any(String) },
    {
      driver: "azure",
      atSeconds: 0,
      method: "GET",
      url: "https://management.azure.com/subscriptions/<subscription-1>/x?api-version=1",
      requestHeaders: {},
      requestBody: "",
      status: 200,
      responseHeaders: { "content-type": "application/json" },
      responseBody: '{"value":"<secret-1>"}',
      seconds: 0.25,
    },
    expect.objectContaining({ method: "DELETE" }),
  ]);
});

test("writes nothing that a terminal interprets, and changes no text", async () => {
  const { recorder, file, linesOf } = await aRecorder();
  const responseBody = "\u001b[31m \u202e \u009b ü 🙂";
  recorder.record("azure", { ...exchange, responseBody });
  await recorder.close();
  expect(await readFile(file, "utf8")).toMatch(/^[ -~\n]*$/);
  expect((await linesOf())[1]).toMatchObject({ responseBody });
});

test("stops with one log line before the file is too large, and takes no harm from what comes later", async () => {
  const { recorder, file, logged } = await aRecorder(2_000);
  for (let index = 0; index < 100; index++) recorder.record("azure", exchange);
  await recorder.close();
  expect((await stat(file)).size).toBeLessThanOrEqual(2_000);
  expect(logged).toEqual(["The recording of cloud requests has stopped: the file would be larger than 2000 bytes"]);
  expect(() => recorder.record("azure", exchange)).not.toThrow();
});

test("leaves out a body that is too large, and records its size", async () => {
  const { recorder, linesOf } = await aRecorder();
  recorder.record("azure", { ...exchange, responseBody: "x".repeat(2 ** 20 + 1) });
  await recorder.close();
  expect((await linesOf())[1]).toMatchObject({ responseBody: "(left out: 1048577 bytes)" });
});

test("does not write over a file", async () => {
  const { file, recorder } = await aRecorder();
  await recorder.close();
  const again = openCloudRecorder({ file, clock: createVirtualClock(), log: () => undefined });
  await expect(again).rejects.toThrow(`--record-cloud: cannot create ${file}: it exists; name a new file`);
});

test("reports a file that cannot be created", async () => {
  const { file } = await aRecorder();
  await writeFile(`${file}.x`, "");
  const within = openCloudRecorder({ file: `${file}.x/y`, clock: createVirtualClock(), log: () => undefined });
  await expect(within).rejects.toThrow(`--record-cloud: cannot create ${file}.x/y:`);
});
