/**
 * Writes the folder from which a container image is built: the packed command and drivers with what they depend on, a Containerfile, and a list of all packages in it.
 *
 *     npm run stage-image -- DRIVER... FOLDER
 */
import { readCommandLine } from "../command-line.ts";
import { imageName, stageImage } from "./stage-image.ts";

const usage = `usage: npm run stage-image -- DRIVER... FOLDER

Writes into FOLDER, which must be empty or missing, what an image of the command and drivers is built from:
an app folder, a Containerfile and a list of its packages (CycloneDX). DRIVER is mock, aws, gcp, azure, qemu, or
the name of an installed npm package.`;

const { positionals } = readCommandLine({ usage, positionals: [2, Number.POSITIVE_INFINITY] });
const [drivers, folder = ""] = [positionals.slice(0, -1), positionals.at(-1)];
try {
  await stageImage(drivers, folder);
  console.log(`${folder} is ready: podman build --timestamp 0 -t ${imageName(drivers)} ${folder}`);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
