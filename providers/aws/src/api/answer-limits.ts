import { pipeline, Readable, Transform } from "node:stream";
import type { EC2Client } from "@aws-sdk/client-ec2";
import type { Clock } from "@millwright/core";
import { answerTooLong } from "@millwright/core/driver-kit";

/** How long an answer may take. */
export interface AnswerLimits {
  readonly clock: Clock;
  /** From when its first byte came until its last, milliseconds. */
  readonly timeMs: number;
}

/** Where the root element of an answer is. */
const headBytes = 1_024;

/** The root element of every answer of EC2 and STS. */
const answerRoot = /<\w+Response[\s>]/;

/** The error for a body that is not XML of the cloud. The SDK would read a page of a proxy as an empty answer: as a list without VMs. */
const unreadable = (): Error => Object.assign(new Error("the answer is not XML of the cloud"), { name: "SyntaxError" });

/** The same bytes, as long as they keep within the limits; then an error. `isAnswer`: the status is that of a success. */
function limited(body: Readable, isAnswer: boolean, { clock, timeMs }: AnswerLimits): Readable {
  let size = 0;
  let head = "";
  const counter = new Transform({
    transform(chunk: Buffer, _, done) {
      size += chunk.length;
      const wasRead = head.length >= headBytes;
      if (!wasRead) head += chunk.toString("latin1", 0, headBytes);
      const isForeign = isAnswer && !wasRead && head.length >= headBytes && !answerRoot.test(head);
      const problem = isForeign ? unreadable() : answerTooLong(size);
      if (problem === undefined) done(null, chunk);
      else done(problem);
    },
    flush(done) {
      done(isAnswer && !answerRoot.test(head) ? unreadable() : null);
    },
  });
  const late = (): Error =>
    Object.assign(new Error(`an answer was not complete after ${timeMs} ms`), { name: "TimeoutError" });
  const timer = clock.setTimer(timeMs, () => counter.destroy(late()));
  pipeline(body, counter, () => timer.cancel());
  return counter;
}

/** Lets a client abort responses that take too long, have too many bytes, or are not the cloud's. The SDK checks none of these. */
export function limitAnswers({ middlewareStack }: EC2Client, limits: AnswerLimits): void {
  middlewareStack.add(
    (next) => async (input) => {
      const output = await next(input);
      const { response } = output;
      if (typeof response === "object" && response !== null) {
        const body: unknown = Reflect.get(response, "body");
        const status = Number(Reflect.get(response, "statusCode"));
        if (body instanceof Readable) Reflect.set(response, "body", limited(body, status < 300, limits));
      }
      return output;
    },
    // Right after the connection, before anything is read.
    { step: "deserialize", priority: "low", name: "limitAnswers" },
  );
}
