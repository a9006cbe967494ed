import { fieldOf } from "@millwright/core/driver-kit";
import { isScratch } from "../spec/disks.ts";
import type { GcpSpec } from "../spec/spec.ts";
import type { MethodCall } from "../vm/method-call.ts";
import { type Finding, findingOf } from "./finding.ts";

/** An image in one of the ways in which disks name one: a whole address, or a path from a project or from its collection. */
const pattern = /(?:(?:^|\/)projects\/([^/]+)\/)?global\/images\/(family\/)?([^/]+)$/;

/** The project that an image is in; undefined for a disk without one, or with a name that has another form. */
export function projectOfImage(image: string, own: string): string | undefined {
  const match = pattern.exec(image);
  return match === null ? undefined : (match[1] ?? own);
}

/** Path of an image below `projects/`. */
function pathOf(image: string, own: string): string | undefined {
  const match = pattern.exec(image);
  if (match === null) return undefined;
  const [, project = own, family = "", name = ""] = match;
  return `${project}/global/images/${family}${name}`;
}

/** Whether the images of all disks exist and are ready. */
export async function checkImages({ disks }: GcpSpec, { session, context }: MethodCall): Promise<Finding> {
  const problems: string[] = [];
  const old: string[] = [];
  for (const [index, disk] of disks.entries()) {
    const { image } = disk;
    const path = isScratch(disk) ? undefined : pathOf(image, session.project);
    if (path === undefined) continue;
    const found = await session.api.getResource("image_get", path, context.signal);
    const status = fieldOf(found, "status");
    const state = fieldOf(fieldOf(found, "deprecated"), "state");
    if (found === undefined) problems.push(`disks[${index}].image: there is no image "${image}"`);
    else if (status !== undefined && status !== "READY")
      problems.push(`disks[${index}].image: image "${image}" is ${JSON.stringify(status)}, not READY`);
    else if (state === "DELETED") problems.push(`disks[${index}].image: image "${image}" is deleted`);
    else if (typeof state === "string" && state !== "ACTIVE") old.push(`image "${image}" is ${state}`);
  }
  if (problems.length === 0 && old.length > 0) return { status: "warning", message: `${old.join("; ")}.` };
  return findingOf(problems, "All images of the disks exist.");
}
