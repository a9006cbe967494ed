import type { IncomingMessage } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { isJsonObject, type Json, type Seen, type Step, type Subject } from "./request-script.ts";
import { createTargetClient, type Target, type TargetClient } from "./target.ts";

/** The response of a server to one step. */
export interface Answer {
  readonly status: number;
  readonly contentType: string;
  readonly warnings: readonly string[];
  readonly retryAfter: string | undefined;
  /** The decoded JSON, or the text. For watches: the events. */
  readonly body: Json;
}

/** Longest time for a step, milliseconds. */
const STEP_LIMIT_MS = 30_000;
/** Longest time for asynchronous work of controllers, milliseconds. */
const UNTIL_LIMIT_MS = 20_000;

/** Runs a subject in a new namespace; resolves with the responses by step name. Rejects for a step without a response. */
export async function runSubject(subject: Subject, target: Target): Promise<ReadonlyMap<string, Answer>> {
  const client = createTargetClient(target);
  const namespace = `compat-${subject.name}`;
  const answers = new Map<string, Answer>();
  const seen: Seen = (name) => {
    const body = answers.get(name)?.body;
    if (!isJsonObject(body)) throw new Error(`step "${name}" has no JSON object as its answer`);
    return body;
  };
  const run: Run = { client, namespace, answers, seen };
  try {
    const created = await runPlain(run, {
      name: "namespace",
      method: "POST",
      path: "/api/v1/namespaces",
      body: { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } },
      headers: { "content-type": "application/json" },
      watch: undefined,
      until: undefined,
    });
    if (created.status !== 201) throw new Error(`namespace ${namespace}: ${JSON.stringify(created.body)}`);
    for (const step of subject.steps) await runStep(run, step);
  } finally {
    client.close();
  }
  return answers;
}

interface Run {
  readonly client: TargetClient;
  readonly namespace: string;
  readonly answers: Map<string, Answer>;
  readonly seen: Seen;
}

async function runStep(run: Run, step: Step): Promise<void> {
  try {
    const answer = step.watch === undefined ? await runPlain(run, step) : await runWatch(run, step);
    run.answers.set(step.name, answer);
  } catch (error) {
    throw new Error(`step "${step.name}": ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

async function runPlain(run: Run, step: Step): Promise<Answer> {
  const deadline = performance.now() + UNTIL_LIMIT_MS;
  for (;;) {
    const response = await send(run, step, AbortSignal.timeout(STEP_LIMIT_MS));
    const answer = answerOf(response, await readText(response));
    const body = isJsonObject(answer.body) ? answer.body : {};
    if (step.until === undefined || step.until(answer.status, body) || performance.now() > deadline) return answer;
    await delay(100);
  }
}

async function runWatch(run: Run, step: Step): Promise<Answer> {
  const limit = AbortSignal.timeout(STEP_LIMIT_MS);
  const stop = new AbortController();
  const response = await send(run, step, AbortSignal.any([limit, stop.signal]));
  const wanted = step.watch?.events ?? Number.POSITIVE_INFINITY;
  const isStream = response.statusCode === 200 && (response.headers["content-type"] ?? "").includes("json");
  if (!isStream) return answerOf(response, await readText(response));
  const events: Json[] = [];
  const reading = readEvents(response, events, wanted);
  for (const inner of step.watch?.during ?? []) await runStep(run, inner);
  // A missing event results in a shorter list, not in an error: it is a difference like any other.
  const settled = step.watch?.events === undefined ? reading : Promise.race([reading, delay(3000)]);
  await settled.catch((error: unknown) => {
    if (!limit.aborted) throw error;
  });
  stop.abort();
  await reading.catch(() => {});
  return { ...answerOf(response, ""), body: events.slice(0, wanted) };
}

async function readEvents(response: IncomingMessage, events: Json[], wanted: number): Promise<void> {
  let rest = "";
  response.setEncoding("utf8");
  for await (const chunk of response) {
    const lines = (rest + String(chunk)).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) events.push(JSON.parse(line));
    if (events.length >= wanted) return;
  }
}

function send(run: Run, step: Step, signal: AbortSignal): Promise<IncomingMessage> {
  const fill = (text: string): string => text.replaceAll("{ns}", run.namespace);
  const path = typeof step.path === "function" ? step.path(run.seen) : step.path;
  const body = typeof step.body === "function" ? step.body(run.seen) : step.body;
  const text = body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body);
  return run.client.send(step.method, fill(path), step.headers, text === undefined ? undefined : fill(text), signal);
}

function answerOf(response: IncomingMessage, text: string): Answer {
  const contentType = response.headers["content-type"] ?? "";
  const retryAfter = response.headers["retry-after"];
  return {
    status: response.statusCode ?? 0,
    contentType,
    warnings: headerValues(response.rawHeaders, "warning"),
    retryAfter,
    body: contentType.includes("json") && text !== "" ? parsed(text) : text,
  };
}

function parsed(text: string): Json {
  const value: Json = JSON.parse(text);
  return value;
}

function headerValues(raw: readonly string[], name: string): readonly string[] {
  return raw.filter((_, index) => index % 2 === 1 && raw[index - 1]?.toLowerCase() === name);
}

async function readText(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString("utf8");
}
