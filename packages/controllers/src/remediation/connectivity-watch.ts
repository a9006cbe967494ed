import type { Clock } from "@millwright/core";
import type { Contact } from "@millwright/kube";
import type { ContactView } from "./remediation-view.ts";

/** What {@link createContactWatch} needs. */
export interface ContactWatchOptions {
  /** Of the caches that health is judged from. */
  readonly contacts: readonly Contact[];
  readonly clock: Clock;
  /** A shorter loss is no loss, milliseconds. */
  readonly lostAfterMs: number;
  /** Called when contact was lost for so long. */
  readonly onLost: () => void;
  /** Called when contact is back that was lost, and none other is lost any more. */
  readonly onRegained: (lostForMs: number) => void;
}

/**
 * Watches whether the caches hear from their API servers. A timeout that ran while nothing was heard says nothing about the node: it starts anew when
 * contact is back. At the start of a process the time until the first list counts, too.
 */
export function createContactWatch(options: ContactWatchOptions): () => ContactView {
  const { contacts, clock, lostAfterMs, onLost, onRegained } = options;
  const isLost = (): boolean => contacts.some((contact) => contact.lostForMs() > lostAfterMs);
  let regainedAt: number | undefined;
  for (const contact of contacts) {
    contact.onLost(lostAfterMs, onLost);
    contact.onRegained((lostForMs) => {
      if (lostForMs <= lostAfterMs) return;
      regainedAt = clock.now().getTime();
      if (!isLost()) onRegained(lostForMs);
    });
  }
  return () => ({ isLost: isLost(), regainedAt });
}
