import { annotationKeys } from "@millwright/core/machine-api";
import { describe, expect, it } from "vitest";
import { aMachineDeployment, annotated } from "../../testing/builders.ts";
import { openingAt, readWindows } from "./maintenance-window.ts";

const read = (text: string) =>
  readWindows(aMachineDeployment(annotated({ [annotationKeys.maintenanceWindows]: text })));
const windowsOf = (text: string) => {
  const result = read(text);
  if (!result.ok) throw new Error(result.problem);
  return result.windows;
};
const at = (text: string, time: string): string => {
  const { isOpen, changesAt } = openingAt(windowsOf(text), new Date(time));
  return `${isOpen ? "open" : "closed"} until ${changesAt?.toISOString() ?? "ever"}`;
};

describe("readWindows", () => {
  it("finds none without the annotation, and nothing is ever closed then", () => {
    const result = readWindows(aMachineDeployment());
    expect(result).toEqual({ ok: true, windows: [] });
    expect(openingAt([], new Date(0))).toEqual({ isOpen: true, changesAt: undefined });
  });

  it("takes UTC where no time zone is named", () => {
    expect(windowsOf("0 22 * * 6 4h; 30 1 1 * * 90m Europe/Berlin ;")).toEqual([
      { cron: "0 22 * * 6", durationMs: 14_400_000, timeZone: "UTC" },
      { cron: "30 1 1 * *", durationMs: 5_400_000, timeZone: "Europe/Berlin" },
    ]);
  });

  it.each([
    ["", "names no window"],
    [" ; ", "names no window"],
    ["0 22 * * 6", "is not a window"],
    ["0 22 * * 6 4h Europe/Berlin more", "is not a window"],
    ["0 22 * * 6 4", "4 is not a duration"],
    ["0 22 * * 6 30s", "30s is not a duration"],
    ["0 22 * * 6 9000h", "9000h is not a duration"],
    ["0 25 * * 6 4h", "`0 25 * * 6` in time zone UTC is not a schedule"],
    ["0 22 * * 6 4h Mars/Base", "time zone Mars/Base is not a schedule"],
    ["0 0 31 2 * 4h", "never opens"],
    ["0 22 * * 6 4h;".repeat(21), "more than 20 windows"],
    ["x".repeat(1001), "longer than 1000 characters"],
  ])("refuses %j", (text, problem) => {
    const result = read(text);
    expect(result.ok ? "" : result.problem).toContain(problem);
  });
});

describe("openingAt", () => {
  it("opens with the start and closes when the duration has passed", () => {
    const saturdays = "0 22 * * 6 4h";
    expect(at(saturdays, "2026-01-03T21:59:59.500Z")).toBe("closed until 2026-01-03T22:00:00.000Z");
    expect(at(saturdays, "2026-01-03T22:00:00Z")).toBe("open until 2026-01-04T02:00:00.000Z");
    expect(at(saturdays, "2026-01-04T01:59:59.999Z")).toBe("open until 2026-01-04T02:00:00.000Z");
    expect(at(saturdays, "2026-01-04T02:00:00Z")).toBe("closed until 2026-01-10T22:00:00.000Z");
  });

  it("keeps to the clocks of its zone in winter and in summer", () => {
    expect(at("0 22 * * * 1h Europe/Berlin", "2026-01-05T00:00:00Z")).toBe("closed until 2026-01-05T21:00:00.000Z");
    expect(at("0 22 * * * 1h Europe/Berlin", "2026-07-05T00:00:00Z")).toBe("closed until 2026-07-05T20:00:00.000Z");
  });

  it("looks again when the first of several open windows closes", () => {
    expect(at("0 1 * * * 2h; 0 2 * * * 3h", "2026-01-05T02:30:00Z")).toBe("open until 2026-01-05T03:00:00.000Z");
    expect(at("0 1 * * * 2h; 0 2 * * * 3h", "2026-01-05T03:00:00Z")).toBe("open until 2026-01-05T05:00:00.000Z");
  });

  it("is open all the time where windows touch", () => {
    expect(at("0 * * * * 1h", "2026-01-05T03:00:00Z")).toBe("open until 2026-01-05T04:00:00.000Z");
  });
});
