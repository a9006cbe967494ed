import { pipeline, Readable, Transform } from "node:stream";
import type { EC2Client } from "@aws-sdk/client-ec2";
import type { Clock } from "@millwright/core";

/** What an answer may cost. The SDK itself looks at neither once the first byte has come. */
export interface AnswerLimits {
  readonly clock: Clock;
  /** From when its first byte came until its last, milliseconds. */
  readonly timeMs: number;
  /** A page of 1000 instances has about 10 MB. */
  readonly bytes: number;
}

/** Name of the error of an answer that is too long. One that takes too long is a `TimeoutError` as others. */
export const answerTooLong = "AnswerTooLong";

const named = (name: string, message: string): Error => Object.assign(new Error(message), { name });

/** The same bytes, as long as they keep within the limits; then an error. */
function limited(body: Readable, { clock, timeMs, bytes }: AnswerLimits): Readable {
  let size = 0;
  const counter = new Transform({
    transform(chunk: Buffer, _, done) {
      size += chunk.length;
      if (size > bytes) done(named(answerTooLong, `an answer has more than ${bytes} bytes`));
      else done(null, chunk);
    },
  });
  const timer = clock.setTimer(timeMs, () =>
    counter.destroy(named("TimeoutError", `an answer was not complete after ${timeMs} ms`)),
  );
  pipeline(body, counter, () => timer.cancel());
  return counter;
}

/** Has a client give up answers that go beyond the limits. */
export function limitAnswers({ middlewareStack }: EC2Client, limits: AnswerLimits): void {
  middlewareStack.add(
    (next) => async (input) => {
      const output = await next(input);
      const { response } = output;
      if (typeof response === "object" && response !== null) {
        const body: unknown = Reflect.get(response, "body");
        if (body instanceof Readable) Reflect.set(response, "body", limited(body, limits));
      }
      return output;
    },
    // Right behind the connection, before anybody reads.
    { step: "deserialize", priority: "low", name: "limitAnswers" },
  );
}
