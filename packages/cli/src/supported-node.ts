/** The oldest Node on which the packages run: `engines` of every package.json. */
export const oldestNode = "22.19";

/** Why this Node cannot run the command, as a sentence; `undefined` if it can. */
export function unsupportedNode(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [oldestMajor = 0, oldestMinor = 0] = oldestNode.split(".").map(Number);
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return undefined;
  return `millwright needs Node ${oldestNode} or newer, and this is Node ${version}. Install a newer one, for example from https://nodejs.org/`;
}
