import { parseGoDuration } from "@millwright/base";
import { annotationKeys, type MachineDeployment } from "@millwright/core/machine-api";
import { Cron } from "croner";

/** A recurring period in which machines may be replaced voluntarily. */
export interface MaintenanceWindow {
  /** When it opens: five fields of cron. */
  readonly cron: string;
  readonly durationMs: number;
  /** IANA name of the time zone that `cron` is meant in. */
  readonly timeZone: string;
}

/** The parsed windows, or what is wrong as a sentence. */
export type ReadWindowsResult =
  | { readonly ok: true; readonly windows: readonly MaintenanceWindow[] }
  | { readonly ok: false; readonly problem: string };

/** Limits of the annotation, far above what users write. */
const MAX_TEXT = 1_000;
const MAX_WINDOWS = 20;
const MAX_DURATION_MS = 31 * 24 * 3_600_000;
const MIN_DURATION_MS = 60_000;

const EXAMPLE = "expected CRON DURATION [ZONE], for example `0 22 * * 6 4h Europe/Berlin`; separate several with `;`";

const scheduleOf = ({ cron, timeZone }: MaintenanceWindow): Cron =>
  new Cron(cron, { timezone: timeZone, mode: "5-part" });

/** Whether the window ever opens; throws croner's error for an invalid pattern or time zone. */
const opensAtAll = (window: MaintenanceWindow): boolean => scheduleOf(window).nextRun(new Date(0)) !== null;

function readWindow(text: string): MaintenanceWindow | string {
  const words = text.trim().split(/\s+/);
  const [duration = "", timeZone = "UTC"] = words.slice(5);
  if (words.length < 6 || words.length > 7) return `\`${text.trim()}\` is not a window: ${EXAMPLE}`;
  const durationMs = parseGoDuration(duration);
  if (durationMs === undefined || durationMs < MIN_DURATION_MS || durationMs > MAX_DURATION_MS) {
    return `${duration} is not a duration from 1m to 744h: ${EXAMPLE}`;
  }
  const window = { cron: words.slice(0, 5).join(" "), durationMs, timeZone };
  try {
    return opensAtAll(window) ? window : `the window \`${text.trim()}\` never opens`;
  } catch {
    return `\`${window.cron}\` in time zone ${timeZone} is not a schedule: ${EXAMPLE}`;
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
 * The state of the windows at a time. A window is open from its start, inclusive, until its duration has passed, also across changes of daylight saving time.
 * Without windows it is always open.
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
