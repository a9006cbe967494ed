import { stableHash } from "./stable-hash.ts";

/** What a {@link SessionPool} holds: connections to one place of a cloud with one credential. */
export interface PooledSession {
  /** Closes the connections. Called once, when no call uses the session any more. */
  close(): void;
}

/** Sessions by place (a region, a project, a subscription) and credential, shared by all machines that use them. */
export interface SessionPool<Credentials, Session, Place extends string = string> {
  /**
   * Runs a call with the session of a place and credential. When a class comes with another credential than before, the session that it had is closed as soon
   * as no other class uses it and its last call has ended.
   */
  use<T>(className: string, place: Place, credentials: Credentials, call: (session: Session) => Promise<T>): Promise<T>;
  /** Sessions that are open. */
  readonly size: number;
}

interface Entry<Session> {
  readonly session: Session;
  readonly place: string;
  readonly classes: Set<string>;
  calls: number;
}

/** Maximum number of sessions; idle ones are closed beyond it, the oldest first. */
const maxSessions = 50;

/**
 * Creates a pool.
 *
 * @param open creates the session of a place and credential. Credentials are compared by a hash of their JSON.
 */
export function createSessionPool<Credentials, Session extends PooledSession, Place extends string>(
  open: (place: Place, credentials: Credentials) => Session,
): SessionPool<Credentials, Session, Place> {
  // In the order of their last use.
  const entries = new Map<string, Entry<Session>>();

  const closeIfUnused = (key: string, entry: Entry<Session>): void => {
    if (entry.calls > 0 || entry.classes.size > 0) return;
    if (entries.get(key) === entry) entries.delete(key);
    entry.session.close();
  };

  /** Assigns a class to this session and removes it from other sessions of the same place. */
  const move = (className: string, to: Entry<Session>): void => {
    for (const [key, entry] of entries) {
      if (entry === to || entry.place !== to.place || !entry.classes.delete(className)) continue;
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
    async use(className, place, credentials, call) {
      const key = `${place}/${stableHash(credentials)}`;
      const entry = entries.get(key) ?? {
        session: open(place, credentials),
        place,
        classes: new Set<string>(),
        calls: 0,
      };
      entries.delete(key);
      entries.set(key, entry);
      entry.calls++;
      move(className, entry);
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
