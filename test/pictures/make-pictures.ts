import { castOf, type Recording } from "./recording.ts";
import { recordDescribe, recordStart, recordTop, recordWhy } from "./record.ts";
import { exampleName } from "../../packages/cli/src/dev/example.ts";
import { openStage, type Stage } from "./stage.ts";
import { svgOf } from "./terminal-svg.ts";
import { followTimelines, type TimelinePicture } from "./timelines.ts";

/** All pictures that are made from what the controllers do. */
export interface Pictures {
  readonly recordings: readonly Recording[];
  readonly timelines: readonly TimelinePicture[];
}

/** Pauses a rollout before it begins, and takes it back. */
async function recordPausedRollout(stage: Stage): Promise<Recording> {
  const template = (name: string) => ({ spec: { class: { name } } });
  await stage.patchExample({ spec: { paused: true, template: template(exampleName) } });
  await stage.pass(60);
  const recording = await recordDescribe(stage);
  await stage.patchExample({ spec: { paused: false, template: template(`${exampleName}-large`) } });
  await stage.pass(60);
  return recording;
}

/** Runs the controllers in virtual time, through a rollout, a pause and into an exhausted quota, and records what the commands show. */
export async function makePictures(): Promise<Pictures> {
  const stage = await openStage();
  try {
    const timelines = followTimelines(stage);
    const { start, rolloutFrom } = await recordStart(stage);
    const rolloutTo = stage.seconds();
    const describe = await recordPausedRollout(stage);
    const quota = { code: "ResourceExhausted", message: "quota of 4 VMs of type large is used up" } as const;
    await stage.world.cloud.addFault({ operation: "create", times: 1_000, ...quota });
    await stage.patchExample({ spec: { replicas: 6 } });
    await stage.pass(90);
    return {
      recordings: [start, describe, await recordWhy(stage), await recordTop(stage)],
      timelines: [timelines.rollout(rolloutFrom, rolloutTo), timelines.drain(rolloutFrom, rolloutTo)],
    };
  } finally {
    await stage.close();
  }
}

/** The files of the pictures, by name. */
export async function pictureFiles({ recordings, timelines }: Pictures): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>();
  for (const recording of recordings) {
    files.set(`${recording.name}.cast`, castOf(recording));
    files.set(`${recording.name}.svg`, await svgOf(recording));
  }
  for (const { name, svg } of timelines) files.set(`${name}.svg`, svg);
  return files;
}
