import type { DeploymentReport } from "@millwright/runtime";
import { plain, section, SECTION_INDENT, table } from "../terminal/text.ts";

/** How many machines are in which phase. */
export const phasesText = (phases: Readonly<Record<string, number>>): string =>
  Object.entries(phases)
    .map(([phase, count]) => `${count} ${plain(phase)}`)
    .join(", ") || "-";

/** Warns that the report is about an older spec. */
export const unobserved = ({ isObserved }: Pick<DeploymentReport, "isObserved">): readonly string[] =>
  isObserved ? [] : ["The controllers have not observed the last change yet."];

/** The last sections of descriptions of deployments and sets. */
export const endOf = (
  { conditions, failed, notes }: Pick<DeploymentReport, "conditions" | "failed" | "notes">,
  lineWidth?: number,
): readonly string[] => [
  ...section(
    "Conditions",
    table(
      [
        ["TYPE", "STATUS", "SINCE", "REASON", "MESSAGE"],
        ...conditions.map(({ type, status, since, reason, message }) => [
          type,
          status,
          plain(since) || "-",
          reason,
          plain(message),
        ]),
      ],
      lineWidth === undefined ? undefined : lineWidth - SECTION_INDENT,
    ),
  ),
  ...section(
    "Failed machines",
    failed.map(({ name, message }) => plain(`${name}: ${message}`).replaceAll("\n", " ")),
    lineWidth,
  ),
  ...section("Notes", notes.map(plain), lineWidth),
];
