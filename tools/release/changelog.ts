/** Areas of commits that change nothing for users. */
const internal = new Set(["coverage", "e2e", "imports", "release", "test", "tests", "tools", "words"]);

/**
 * The entry of a version in CHANGELOG.md, from the first lines of commits in the form `area: change` or `area, area: change`: grouped by first area, the oldest change first. Changes
 * of tests and tools alone are left out.
 *
 * @param subjects the newest first, as git prints them; `undefined` for the first version, which is compared with nothing
 */
export function changelogEntry(version: string, date: string, subjects: readonly string[] | undefined): string {
  const title = `## ${version} (${date})`;
  if (subjects === undefined) return `${title}\n\nThe first version.`;
  const byArea = new Map<string, string[]>();
  for (const subject of subjects.toReversed()) {
    const match = /^([a-z][\w-]*(?:, [a-z][\w-]*)*): (.+)$/.exec(subject);
    const areas = (match?.[1] ?? "other").split(", ");
    const area = areas.find((name) => !internal.has(name));
    if (area === undefined) continue;
    byArea.set(area, [...(byArea.get(area) ?? []), `- ${match?.[2] ?? subject}`]);
  }
  if (byArea.size === 0) return `${title}\n\nNo change for users.`;
  const sections = [...byArea].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return [title, ...sections.map(([area, lines]) => `### ${area}\n\n${lines.join("\n")}`)].join("\n\n");
}
