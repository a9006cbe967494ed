import { describe, expect, it } from "vitest";
import { answerTooLong, mostAnswerBytes } from "./answer-size.ts";
import { abortedCall, failureWithoutAnswer, fieldOf } from "./call-failure.ts";

const withCode = (code: string): Error => Object.assign(new Error("x"), { code });

describe("the failure of a call", () => {
  it("distinguishes a deadline from an abort", () => {
    const late = AbortSignal.abort(Object.assign(new Error("late"), { name: "TimeoutError" }));
    expect(abortedCall(late, "making m")).toMatchObject({ code: "DeadlineExceeded" });
    expect(abortedCall(AbortSignal.abort(new Error("stop")), "making m")).toMatchObject({
      code: "Aborted",
      message: "making m: the call was aborted",
    });
  });

  it.each<[string, unknown, string]>([
    ["a connection that was refused", withCode("ECONNREFUSED"), "Unavailable"],
    ["a name that cannot be resolved", withCode("ENOTFOUND"), "Unavailable"],
    ["a certificate", withCode("DEPTH_ZERO_SELF_SIGNED_CERT"), "Unavailable"],
    ["a timeout of the system", withCode("ETIMEDOUT"), "DeadlineExceeded"],
    ["a time limit", Object.assign(new Error("x"), { name: "TimeoutError" }), "DeadlineExceeded"],
    ["an answer that is too long", answerTooLong(mostAnswerBytes + 1), "Unavailable"],
    ["a fault of the driver", new TypeError("x is not a function"), "Internal"],
  ])("without a response is identified by its error: %s", (_, error, code) => {
    expect(failureWithoutAnswer(error, "the cloud")?.[0]).toBe(code);
  });

  it("is not guessed", () => {
    expect(failureWithoutAnswer(new Error("x"), "the cloud")).toBeUndefined();
    expect(failureWithoutAnswer(undefined, "the cloud")).toBeUndefined();
    expect(fieldOf(null, "code")).toBeUndefined();
  });
});
