import type { ApprovalReport } from "@millwright/runtime";
import { plain } from "../terminal/text.ts";

type Approved = ApprovalReport["approved"][number];

const nouns: Readonly<Record<string, string>> = {
  MachineDeployment: "deployment",
  MachineSet: "set",
  Machine: "machine",
};

/** What an approval covers, as a clause. */
function coverOf({ kind, name, work, machines = 0 }: Approved): string {
  const object = `${kind} ${plain(name)}`;
  if (work === undefined) return `all deletions of ${object}`;
  if (kind === "Machine") return `the deletion of ${object}`;
  const what = work === "creations" ? "creation" : "deletion";
  return `the ${what} of ${machines} ${machines === 1 ? "machine" : "machines"} of ${object}`;
}

/** When an approval ends. */
const endOf = ({ work, until }: Approved): string =>
  work === undefined ? `until ${until}` : `and nothing that follows; it ends with them, or at ${until}`;

/** The report of `millwright approve`, as text. */
export function renderApproval({ namespace, isDryRun, approved }: ApprovalReport): string {
  if (approved.length === 0) return `No deletions are held in namespace ${plain(namespace)}.\n`;
  const verb = isDryRun ? "Would approve" : "Approved";
  const lines = approved.flatMap((each) => {
    const { kind, name, machines, atATime, held } = each;
    return [
      `${verb} ${coverOf(each)} ${endOf(each)}.`,
      ...(atATime === undefined ? [] : [`  At most ${atATime} are deleted, or not replaced yet, at a time.`]),
      `  ${held === undefined ? "None are held at the moment." : plain(held)}`,
      ...(isDryRun && machines !== undefined && kind !== "Machine"
        ? [`  To approve no more than this: millwright approve ${nouns[kind]} ${plain(name)} --at-most ${machines}`]
        : []),
    ];
  });
  return `${lines.join("\n")}\n`;
}
