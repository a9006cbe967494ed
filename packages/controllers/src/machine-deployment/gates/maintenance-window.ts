import { annotationKeys, type MachineDeployment, parseGoDuration } from "@millwright/core";
import { Cron } from "croner";

/** A time that comes again and again, in which machines may be replaced by choice. */
export interface MaintenanceWindow {
  /** When it opens: five fields of cron. */
  readonly cron: string;
  readonly durationMs: number;
  /** IANA name of the time zone that `cron` is meant in. */
  readonly timeZone: string;
}

/** What reading the windows of a deployment gave: what is wrong is a sentence. */
export type ReadWindowsResult =
  | { readonly ok: true; readonly windows: readonly MaintenanceWindow[] }
  | { readonly ok: false; readonly problem: string };

/** Longest text, most windows and longest window that are read: what people write is far below. */
const MAX_TEXT = 1_000;
const MAX_WINDOWS = 20;
const MAX_DURATION_MS = 31 * 24 * 3_600_000;
const MIN_DURATION_MS = 60_000;

const EXAMPLE =
  "expected is CRON DURATION [ZONE], such as `0 22 * * 6 4h Europe/Berlin`, several with `;` between them";

const scheduleOf = ({ cron, timeZone }: MaintenanceWindow): Cron =>
  new Cron(cron, { timezone: timeZone, mode: "5-part" });

/** Opens at some time; throws what croner says about a pattern or a zone that it does not understand. */
const opensAtAll = (window: MaintenanceWindow): boolean => scheduleOf(window).nextRun(new Date(0)) !== null;

function readWindow(text: string): MaintenanceWindow | string {
  const words = text.trim().split(/\s+/);
  const [duration = "", timeZone = "UTC"] = words.slice(5);
  if (words.length < 6 || words.length > 7) return `\`${text.trim()}\` is no window: ${EXAMPLE}`;
  const durationMs = parseGoDuration(duration);
  if (durationMs === undefined || durationMs < MIN_DURATION_MS || durationMs > MAX_DURATION_MS) {
    return `${duration} is no duration from 1m to 744h: ${EXAMPLE}`;
  }
  const window = { cron: words.slice(0, 5).join(" "), durationMs, timeZone };
  try {
    return opensAtAll(window) ? window : `the window \`${text.trim()}\` never opens`;
  } catch {
    return `\`${window.cron}\` in time zone ${timeZone} is no time: ${EXAMPLE}`;
  }
}

/** Reads the windows of a deployment; none without the annotation. */
export function readWindows({ metadata }: MachineDeployment): ReadWindowsResult {
  const text = metadata.annotations?.[annotationKeys.maintenanceWindows];
  if (text === undefined) return { ok: true, windows: [] };
  if (text.length > MAX_TEXT) return { ok: false, problem: `is longer than ${MAX_TEXT} characters` };
  const parts = text.split(";").filter((part) => part.trim() !== "");
  if (parts.length === 0) return { ok: false, problem: `names no window: ${EXAMPLE}` };
  if (parts.length > MAX_WINDOWS) return { ok: false, problem: `has more than ${MAX_WINDOWS} windows` };
  const windows: MaintenanceWindow[] = [];
  for (const part of parts) {
    const window = readWindow(part);
    if (typeof window === "string") return { ok: false, problem: window };
    windows.push(window);
  }
  return { ok: true, windows };
}

/** Whether one of the windows is open, and when that changes; `undefined` when none of them ever opens again. */
export interface Opening {
  readonly isOpen: boolean;
  readonly changesAt: Date | undefined;
}

const earliest = (dates: readonly (Date | null)[]): Date | undefined =>
  dates.reduce<Date | undefined>(
    (first, date) => (date !== null && (first === undefined || date < first) ? date : first),
    undefined,
  );

/**
 * Looks at the windows at a time. A window is open from its start, inclusive, until its duration has passed, whatever clocks are put forward or back in
 * between. Without windows nothing is ever closed.
 */
export function openingAt(windows: readonly MaintenanceWindow[], now: Date): Opening {
  if (windows.length === 0) return { isOpen: true, changesAt: undefined };
  const closings = windows.flatMap((window) => {
    const start = scheduleOf(window).nextRun(new Date(now.getTime() - window.durationMs));
    return start === null || start > now ? [] : [new Date(start.getTime() + window.durationMs)];
  });
  // Another window may be open then: it is looked at again.
  if (closings.length > 0) return { isOpen: true, changesAt: earliest(closings) };
  return { isOpen: false, changesAt: earliest(windows.map((window) => scheduleOf(window).nextRun(now))) };
}
