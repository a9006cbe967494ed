import { Secret } from "@millwright/base";
import { createVirtualClock } from "@millwright/core/testing";
import { describe, expect, it } from "vitest";
import { createOutputLog } from "./output-log.ts";

const start = () => {
  const clock = createVirtualClock();
  const logged: Readonly<Record<string, unknown>>[] = [];
  const output = createOutputLog("example", (_level, _message, fields = {}) => logged.push(fields), clock);
  return { clock, output, logged, texts: () => logged.map(({ line }) => line) };
};

describe("the output of a driver", () => {
  it("shows no secret that a call has passed, in any encoding", () => {
    const { output, texts } = start();
    const token = "canary-0123456789";
    output.use({ secret: { token: Secret.of(token) } });
    output.line("stdout", `token ${token} ${Buffer.from(token).toString("base64")} ${encodeURIComponent(token)}`);
    expect(texts()).toEqual(["token [redacted] [redacted] [redacted]"]);
  });

  it("shows no bootstrap token of user data by itself", () => {
    const { output, texts } = start();
    output.use({ userData: Secret.of("#!/bin/sh\nkubeadm join --token abcdef.0123456789abcdef 10.0.0.1:6443\n") });
    output.line("stderr", "joining with abcdef.0123456789abcdef");
    expect(texts()).toEqual(["joining with [redacted]"]);
  });

  it("takes secrets out before it cuts a line", () => {
    const { output, texts } = start();
    const token = "canary-0123456789".repeat(10);
    output.use({ secret: { token: Secret.of(token) } });
    output.line("stdout", `${"x".repeat(1_000)}${token}`);
    expect(String(texts()[0])).not.toContain("canary");
    output.line("stdout", "y".repeat(5_000));
    expect(texts()[1]).toBe(`${"y".repeat(1_024)}…`);
  });

  it("shows no character that a terminal interprets", () => {
    const { output, texts } = start();
    output.line("stdout", "\u001b[31mred\u202e");
    expect(texts()[0]).toContain("red");
    expect(texts()[0]).not.toContain("\u001b");
    expect(texts()[0]).not.toContain("\u202e");
  });

  it("shows a flood at a limited rate, and how much it left out", async () => {
    const { clock, output, logged } = start();
    for (let line = 0; line < 1_000; line++) output.line("stdout", `line ${line}`);
    expect(logged).toHaveLength(100);
    await clock.advance(200);
    output.line("stdout", "later");
    expect(logged.at(-1)).toMatchObject({ line: "later", leftOut: 900, driver: "example", stream: "stdout" });
    output.line("stderr", "the other stream");
    expect(logged).toHaveLength(102);
  });

  it("keeps the secrets that were used last", () => {
    const { output, texts } = start();
    const secret = (index: number): string => `secret-value-${String(index).padStart(8, "0")}-${index}`;
    output.use({ secret: { first: Secret.of(secret(0)) } });
    for (let index = 1; index < 300; index++) output.use({ secret: { key: Secret.of(secret(index)) } });
    output.use({ secret: { first: Secret.of(secret(0)) } });
    output.use({ secret: { key: Secret.of(secret(300)) } });
    output.line("stdout", secret(0));
    output.line("stdout", secret(300));
    expect(texts()).toEqual(["[redacted]", "[redacted]"]);
  });
});
