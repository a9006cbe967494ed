import { createVirtualClock } from "@millwright/base/testing";
import { expect, it, vi } from "vitest";
import {
  ACCEPTED_MS,
  CONCURRENT_REVIEWS,
  createTokenGate,
  KNOWN_MS,
  REJECTED_MS,
  type Rejection,
  REVIEW_RATE,
} from "./token-gate.ts";

const invalid: Rejection = { status: 401, text: "the token is not valid" };

/** A gate that knows some tokens; `ask` sends a token from a peer. */
function createTestGate(review = (token: string) => Promise.resolve(token.startsWith("good") ? undefined : invalid)) {
  const clock = createVirtualClock();
  const reviewed = vi.fn<typeof review>(review);
  const gate = createTokenGate({ review: reviewed, clock });
  const ask = (token: string, peer = "10.0.0.1") =>
    gate({
      headers: { authorization: `Bearer ${token}` },
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a gate reads only the address
      socket: { remoteAddress: peer } as never,
    });
  const statusOf = async (token: string, peer?: string) => (await ask(token, peer))?.status ?? 200;
  return { clock, reviewed, ask, statusOf };
}

it("reviews a token once while its result holds, the negative one for a shorter time", async () => {
  const { clock, reviewed, statusOf } = createTestGate();
  for (let round = 0; round < 5; round++) {
    expect(await statusOf("good")).toBe(200);
    expect(await statusOf("bad")).toBe(401);
  }
  expect(reviewed).toHaveBeenCalledTimes(2);
  await clock.advance(REJECTED_MS);
  await statusOf("good");
  await statusOf("bad");
  expect(reviewed.mock.calls.map(([token]) => token)).toEqual(["good", "bad", "bad"]);
  await clock.advance(ACCEPTED_MS);
  await statusOf("good");
  expect(reviewed).toHaveBeenCalledTimes(4);
});

it("reviews no more random tokens than the rate, of all peers, and sends when to try again", async () => {
  const { clock, reviewed, ask, statusOf } = createTestGate();
  let minutes = 0;
  for (; minutes < 3; minutes++) {
    for (let token = 0; token < 5_000; token++) await ask(`random-${minutes}-${token}`, `10.0.0.${token % 200}`);
    await clock.advance(60_000);
  }
  expect(reviewed.mock.calls.length).toBeLessThanOrEqual(REVIEW_RATE.burst + minutes * REVIEW_RATE.perMinute);
  for (let token = 0; token < 100; token++) await ask(`last-${token}`, `10.0.1.${token}`);
  const rejection = await ask("one-more");
  expect(rejection).toMatchObject({ status: 429, retryAfterSeconds: expect.any(Number) });
  await clock.advance((rejection?.retryAfterSeconds ?? 0) * 1_000);
  expect(await statusOf("one-more")).toBe(401);
});

it("leaves turns to other peers while one sends random tokens", async () => {
  const { ask, statusOf } = createTestGate();
  for (let token = 0; token < 1_000; token++) await ask(`random-${token}`, "10.0.0.66");
  expect(await statusOf("random", "10.0.0.66")).toBe(429);
  expect(await statusOf("good", "10.0.0.1")).toBe(200);
});

it("does not shut out a user who was known a moment ago while others send random tokens", async () => {
  const { clock, ask, statusOf } = createTestGate();
  expect(await statusOf("good")).toBe(200);
  for (let round = 0; round < 10; round++) {
    for (let token = 0; token < 1_000; token++) await ask(`random-${round}-${token}`, `10.0.${round}.${token % 100}`);
    await clock.advance(ACCEPTED_MS);
    expect(await statusOf("good")).toBe(200);
  }
});

it("runs few reviews at a time, one for all requests with the same token", async () => {
  const answers: (() => void)[] = [];
  const { reviewed, ask, statusOf } = createTestGate(
    () => new Promise((resolve) => answers.push(() => resolve(undefined))),
  );
  const asked = Array.from({ length: CONCURRENT_REVIEWS * 5 }, (_, n) => ask(`good-${n % CONCURRENT_REVIEWS}`));
  expect(reviewed).toHaveBeenCalledTimes(CONCURRENT_REVIEWS);
  expect(await ask("other")).toMatchObject({ status: 429, retryAfterSeconds: 1 });
  answers.forEach((answer) => answer());
  expect(new Set(await Promise.all(asked))).toEqual(new Set([undefined]));
  const later = statusOf("other");
  answers.at(-1)?.();
  expect(await later).toBe(200);
});

it("lets a user who is known read on while the API server is slow or unreachable, but not for long", async () => {
  const review = vi.fn<(token: string) => Promise<Rejection | undefined>>().mockResolvedValueOnce(undefined);
  const { clock, statusOf } = createTestGate(review);
  expect(await statusOf("good")).toBe(200);
  review.mockRejectedValue(new Error("connect ECONNREFUSED"));
  for (let ms = 1_000; ms < KNOWN_MS; ms += 1_000) {
    await clock.advance(1_000);
    expect(await statusOf("good")).toBe(200);
  }
  await clock.advance(1_000);
  expect(await statusOf("good")).toBe(503);
  await clock.advance(1_000);
  review.mockResolvedValueOnce(undefined);
  expect(await statusOf("good")).toBe(200);
});

it("rejects a user from the next review on", async () => {
  const { clock, reviewed, statusOf } = createTestGate();
  expect(await statusOf("good")).toBe(200);
  reviewed.mockResolvedValue(invalid);
  await clock.advance(ACCEPTED_MS);
  expect(await statusOf("good")).toBe(200);
  await clock.advance(0);
  expect(await statusOf("good")).toBe(401);
});

it("reviews nothing without a token, or with a huge one", async () => {
  const { reviewed, statusOf } = createTestGate();
  expect(await statusOf("")).toBe(401);
  expect(await statusOf("a b")).toBe(401);
  expect(await statusOf("x".repeat(20_000))).toBe(401);
  expect(reviewed).not.toHaveBeenCalled();
});
