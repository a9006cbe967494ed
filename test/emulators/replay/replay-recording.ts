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

/** The response of an emulator. */
export interface ReplayedAnswer extends ComparedAnswer {
  readonly headers: Readonly<Record<string, string>>;
}

/** A new emulated cloud. */
export interface ReplayTarget {
  /** Its URL. */
  readonly origin: string;
  /** Whether an exchange is a token request: the recording has no credentials, and the emulator other ones. */
  isLogin(exchange: RecordedExchange): boolean;
  send(request: ReplayedRequest): Promise<ReplayedAnswer>;
}

/** One replayed or skipped exchange. */
export interface ReplayedExchange {
  /** `POST /path`, and the action in the body, if any. */
  readonly request: string;
  /** Why it was skipped. */
  readonly skipped?: "login" | "no answer" | "body left out";
  readonly differences: readonly AnswerDifference[];
}

/** Headers with URLs of a client's next requests. */
const addressHeaders = ["azure-asyncoperation", "location"];

/** Sends every request of a recording to an emulator, in order, and compares its responses with the cloud's. IDs of the cloud are replaced by those of the emulator. */
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
