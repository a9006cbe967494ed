import { type AnswerDifference, type ComparedAnswer, compareAnswers } from "./compare-answers.ts";
import type { RecordedExchange } from "./read-recording.ts";
import { createValueMap } from "./value-map.ts";

/** A request for an emulator. */
export interface ReplayedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The answer of an emulator. */
export interface ReplayedAnswer extends ComparedAnswer {
  readonly headers: Readonly<Record<string, string>>;
}

/** An emulated cloud in which nothing has happened yet. */
export interface ReplayTarget {
  /** Where it is. */
  readonly origin: string;
  /** Whether an exchange is about tokens: the recording has no credentials, and the emulator other ones. */
  isLogin(exchange: RecordedExchange): boolean;
  send(request: ReplayedRequest): Promise<ReplayedAnswer>;
}

/** One exchange that was replayed, or was not. */
export interface ReplayedExchange {
  /** `POST /path`, and the action where the body names it. */
  readonly request: string;
  /** Why it was not replayed. */
  readonly skipped?: "login" | "no answer" | "body left out";
  readonly differences: readonly AnswerDifference[];
}

/** Headers with addresses that a client asks next. */
const addressHeaders = ["azure-asyncoperation", "location"];

/** Sends every request of a recording to an emulator, in order, and compares what it answers with what the cloud has answered. Ids that the cloud gave are replaced by those that the emulator gives. */
export async function replayRecording(
  exchanges: readonly RecordedExchange[],
  target: ReplayTarget,
): Promise<readonly ReplayedExchange[]> {
  const values = createValueMap();
  const replayed: ReplayedExchange[] = [];
  for (const exchange of exchanges) {
    const request = nameOf(exchange);
    const skipped = reasonToSkip(exchange, target);
    if (skipped !== undefined || exchange.status === undefined) {
      replayed.push({ request, skipped: skipped ?? "no answer", differences: [] });
      continue;
    }
    const url = new URL(values.apply(exchange.url));
    const answer = await target.send({
      method: exchange.method,
      url: `${target.origin}${url.pathname}${url.search}`,
      headers: exchange.requestHeaders,
      body: values.apply(exchange.requestBody),
    });
    for (const name of addressHeaders)
      values.learnValue(exchange.responseHeaders[name] ?? "", answer.headers[name] ?? "");
    values.learn(exchange.responseBody, answer.body);
    const cloud = { status: exchange.status, body: exchange.responseBody };
    replayed.push({ request, differences: compareAnswers(cloud, answer) });
  }
  return replayed;
}

function reasonToSkip(exchange: RecordedExchange, target: ReplayTarget): ReplayedExchange["skipped"] {
  if (exchange.status === undefined) return "no answer";
  if (target.isLogin(exchange)) return "login";
  return [exchange.requestBody, exchange.responseBody].some((body) => body.startsWith("(left out:"))
    ? "body left out"
    : undefined;
}

function nameOf({ method, url, requestBody }: RecordedExchange): string {
  const action = /^(?:.*&)?Action=(\w+)/.exec(requestBody)?.[1];
  return `${method} ${URL.parse(url)?.pathname ?? url}${action === undefined ? "" : ` ${action}`}`;
}
