import { type Clock, redactSecrets, Secret, type SecretData } from "@millwright/base";
import type { Log } from "@millwright/kube";
import { createLineLimiter, type LineLimit } from "../logging/line-limit.ts";

/** The output of a driver in a process of its own, as lines of the log. */
export interface OutputLog {
  /** Logs a line: without the values of secrets in use, cut, and at a limited rate. */
  line(stream: "stdout" | "stderr", text: string): void;
  /** Records secrets that a call passes to the driver: from now on no line shows them. */
  use(secrets: { readonly secret?: SecretData | undefined; readonly userData?: Secret | undefined }): void;
}

/** A driver that prints more is not read by anyone. Redacting a line takes about a millisecond. */
const lineLimit: LineLimit = { burst: 100, periodMs: 200 };

/** Longer lines are cut, characters. */
const MAX_LINE = 1_024;

/** Secrets of as many calls as may be in flight, and of all classes of most installations. The least recently used are left out beyond that. */
const MAX_SECRETS = 300;

/** After so long a driver has no secret of a call any more, milliseconds: classes are listed every 15 minutes. */
const IN_USE_MS = 3_600_000;

/** Bootstrap tokens of kubeadm, which are a part of user data that a driver may print by itself. */
const bootstrapTokens = /\b[a-z0-9]{6}\.[a-z0-9]{16}\b/g;

/** Makes the log of one driver. */
export function createOutputLog(driver: string, log: Log, clock: Pick<Clock, "monotonicMs">): OutputLog {
  const lines = createLineLimiter(lineLimit, clock);
  /** By value. Invariant: the least recently used come first. */
  const inUse = new Map<string, { readonly secret: Secret; readonly atMs: number }>();
  const add = (secret: Secret): void => {
    const value = Buffer.from(secret.revealBytes()).toString("base64");
    if (value === "") return;
    const { secret: known = secret } = inUse.get(value) ?? {};
    inUse.delete(value);
    inUse.set(value, { secret: known, atMs: clock.monotonicMs() });
    const [oldest] = inUse.keys();
    if (inUse.size > MAX_SECRETS && oldest !== undefined) inUse.delete(oldest);
  };
  const secrets = (): SecretData => {
    const sinceMs = clock.monotonicMs() - IN_USE_MS;
    for (const [value, { atMs }] of inUse) if (atMs < sinceMs) inUse.delete(value);
    return Object.fromEntries([...inUse.values()].map(({ secret }, index) => [String(index), secret]));
  };
  return {
    line(stream, text) {
      if (text.trim() === "") return;
      const leftOut = lines.admit(stream);
      if (leftOut === undefined) return;
      // A cut would leave half of a secret.
      const clean = redactSecrets(text, secrets());
      const line = clean.length > MAX_LINE ? `${clean.slice(0, MAX_LINE)}…` : clean;
      log("info", "Output of a driver", { driver, stream, line, ...(leftOut === 0 ? {} : { leftOut }) });
    },
    use({ secret = {}, userData }) {
      for (const value of Object.values(secret)) add(value);
      if (userData === undefined) return;
      add(userData);
      for (const [token] of userData.reveal().matchAll(bootstrapTokens)) add(Secret.of(token));
    },
  };
}
