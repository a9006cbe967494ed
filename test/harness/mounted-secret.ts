import { mkdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** A Secret that is mounted into a folder: the names of its files are links into a folder that is itself a link. */
export interface MountedSecret {
  pathOf(name: string): string;
  /** Replaces all files at once by another folder, as the kubelet does it. */
  replace(files: Readonly<Record<string, string>>): Promise<void>;
  /** Writes the files where they are, as a program does that does not know of links. */
  overwrite(files: Readonly<Record<string, string>>): Promise<void>;
}

/** Mounts a Secret with these files. */
export async function mountSecret(folder: string, files: Readonly<Record<string, string>>): Promise<MountedSecret> {
  let version = 0;
  const pathOf = (name: string): string => join(folder, name);
  const overwrite: MountedSecret["overwrite"] = async (changed) => {
    for (const [name, text] of Object.entries(changed)) await writeFile(pathOf(name), text);
  };
  const replace: MountedSecret["replace"] = async (changed) => {
    const data = `..${++version}`;
    await mkdir(pathOf(data), { recursive: true });
    for (const [name, text] of Object.entries(changed)) await writeFile(join(folder, data, name), text);
    await symlink(data, pathOf("..new"));
    await rename(pathOf("..new"), pathOf("..data"));
    await rm(pathOf(`..${version - 1}`), { recursive: true, force: true });
  };
  await replace(files);
  for (const name of Object.keys(files)) await symlink(join("..data", name), pathOf(name));
  return { pathOf, replace, overwrite };
}
