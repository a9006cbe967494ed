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

/** The same bytes, as long as they keep within the limits; then an error. */
function limited(body: Readable, { clock, timeMs }: AnswerLimits): Readable {
  let size = 0;
  const counter = new Transform({
    transform(chunk: Buffer, _, done) {
      size += chunk.length;
      const tooLong = answerTooLong(size);
      if (tooLong === undefined) done(null, chunk);
      else done(tooLong);
    },
  });
  const late = (): Error =>
    Object.assign(new Error(`an answer was not complete after ${timeMs} ms`), { name: "TimeoutError" });
  const timer = clock.setTimer(timeMs, () => counter.destroy(late()));
  pipeline(body, counter, () => timer.cancel());
  return counter;
}

/** Lets a client abort responses that take too long or have too many bytes. The SDK checks neither after the first byte. */
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
    // Right after the connection, before anything is read.
    { step: "deserialize", priority: "low", name: "limitAnswers" },
  );
}
