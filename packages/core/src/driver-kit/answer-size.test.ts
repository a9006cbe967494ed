import { describe, expect, it } from "vitest";
import { answerTooLong, isAnswerTooLong, mostAnswerBytes, readAnswer } from "./answer-size.ts";

describe("the size of an answer", () => {
  it("may be as large as the limit, and not a byte more", () => {
    expect(answerTooLong(mostAnswerBytes)).toBeUndefined();
    const error = answerTooLong(mostAnswerBytes + 1);
    expect(isAnswerTooLong(error)).toBe(true);
    expect(error).toMatchObject({ message: "a response has more than 67108864 bytes" });
    expect([new Error("x"), "AnswerTooLong", undefined].map(isAnswerTooLong)).toEqual([false, false, false]);
  });

  it("is looked at while a body comes, which is then left", async () => {
    const chunk = new Uint8Array(mostAnswerBytes / 4);
    let sent = 0;
    let isLeft = false;
    async function* endless(): AsyncGenerator<Uint8Array> {
      try {
        for (;;) {
          sent++;
          yield await Promise.resolve(chunk);
        }
      } finally {
        isLeft = true;
      }
    }
    await expect(readAnswer(endless())).rejects.toThrow("more than 67108864 bytes");
    expect([sent, isLeft]).toEqual([5, true]);
  });
});

describe("the text of an answer", () => {
  it("is whole, wherever its characters are cut", async () => {
    const bytes = new TextEncoder().encode("größe 🙂");
    async function* bytewise(): AsyncGenerator<Uint8Array> {
      for (const byte of bytes) yield await Promise.resolve(Uint8Array.of(byte));
    }
    expect(await readAnswer(bytewise())).toBe("größe 🙂");
    expect(await readAnswer(null)).toBe("");
  });
});
