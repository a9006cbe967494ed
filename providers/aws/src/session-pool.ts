import { type AwsCredentials, fingerprintOf } from "./secret.ts";
import type { Session } from "./session.ts";

/** Sessions by region and credential, shared by all machines that use them. */
export interface SessionPool {
  /**
   * Runs a call with the session of a region and credential. When a class comes with another credential than before, the session that it had is closed as soon
   * as no other class uses it and its last call has ended.
   */
  use<T>(
    className: string,
    region: string,
    credentials: AwsCredentials,
    call: (session: Session) => Promise<T>,
  ): Promise<T>;
  /** Sessions that are open. */
  readonly size: number;
}

interface Entry {
  readonly session: Session;
  readonly classes: Set<string>;
  calls: number;
}

/** Sessions kept at most when classes come and go; beyond, those that rest are closed, the oldest first. */
const maxSessions = 50;

/** Creates a pool. */
export function createSessionPool(open: (region: string, credentials: AwsCredentials) => Session): SessionPool {
  // In the order of their last use.
  const entries = new Map<string, Entry>();

  const closeIfUnused = (key: string, entry: Entry): void => {
    if (entry.calls > 0 || entry.classes.size > 0) return;
    if (entries.get(key) === entry) entries.delete(key);
    entry.session.api.close();
  };

  /** The class uses this one now: it leaves those of the same region that it used before. */
  const move = (className: string, region: string, to: Entry): void => {
    for (const [key, entry] of entries) {
      if (entry === to || entry.session.region !== region || !entry.classes.delete(className)) continue;
      closeIfUnused(key, entry);
    }
    to.classes.add(className);
  };

  const trim = (): void => {
    for (const [key, entry] of entries) {
      if (entries.size <= maxSessions) return;
      if (entry.calls > 0) continue;
      entry.classes.clear();
      closeIfUnused(key, entry);
    }
  };

  return {
    get size() {
      return entries.size;
    },
    async use(className, region, credentials, call) {
      const key = `${region}/${fingerprintOf(credentials)}`;
      const entry = entries.get(key) ?? { session: open(region, credentials), classes: new Set<string>(), calls: 0 };
      entries.delete(key);
      entries.set(key, entry);
      entry.calls++;
      move(className, region, entry);
      trim();
      try {
        return await call(entry.session);
      } finally {
        entry.calls--;
        closeIfUnused(key, entry);
      }
    },
  };
}
