import type { ApprovalReport } from "@millwright/runtime";
import { plain } from "../terminal/text.ts";

/** The report of `millwright approve`, as text. */
export function renderApproval({ namespace, until, isDryRun, approved }: ApprovalReport): string {
  if (approved.length === 0) return `No deletions are held in namespace ${plain(namespace)}.\n`;
  const verb = isDryRun ? "Would approve" : "Approved";
  const lines = approved.flatMap(({ kind, name, held }) => [
    `${verb} deletions of ${kind} ${plain(name)} until ${until}.`,
    `  ${held === undefined ? "None are held at the moment." : plain(held)}`,
  ]);
  return `${lines.join("\n")}\n`;
}
