/**
 * Writes the folder from which a container image is built: the packed command and one driver with what they depend on, a Containerfile, and a list of all packages in it.
 *
 *     npm run stage-image -- DRIVER FOLDER
 */
import { readCommandLine } from "../command-line.ts";
import { stageImage } from "./stage-image.ts";

const usage = `usage: npm run stage-image -- DRIVER FOLDER

Writes into FOLDER, which must be empty or missing, what an image of the command and a driver is built from:
an app folder, a Containerfile and a list of its packages (CycloneDX). DRIVER is mock, aws, gcp, azure, qemu, or
the name of an installed npm package.`;

const [driver = "", folder = ""] = readCommandLine({ usage, positionals: [2, 2] }).positionals;
try {
  await stageImage(driver, folder);
  console.log(`${folder} is ready: podman build --timestamp 0 -t millwright-${driver} ${folder}`);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
