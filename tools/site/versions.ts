/** Versions of the documents, and where they are. */
export interface VersionSources {
  /** Tags of the repository, such as `v0.2.0`. */
  readonly tags: readonly string[];
  /** Tag of the commit that the site is made of; absent between two versions. */
  readonly tag?: string;
  /** Address of the repository. */
  readonly repository: string;
}

/** An entry of a menu, as VitePress takes it. */
export interface MenuItem {
  readonly text: string;
  readonly link: string;
}

/** Earlier versions in the menu; the repository has all. */
const MAX_VERSIONS = 8;

const numbersOf = (tag: string): readonly number[] => (/^v(\d+)\.(\d+)\.(\d+)$/.exec(tag) ?? []).slice(1).map(Number);

/** Newest first. */
function compareTags(a: string, b: string): number {
  const [first, second] = [numbersOf(a), numbersOf(b)];
  return first.reduce((order, number, index) => order || (second[index] ?? 0) - number, 0);
}

/** What the documents of the site are about: a version, or the branch `main` between two versions. */
export const refOf = ({ tag }: Pick<VersionSources, "tag">): string => tag ?? "main";

/**
 * The menu of versions. The site has one version; the documents of others are Markdown in the repository, as they were then. Tags that are no
 * released version, such as `v0.2.0-rc.1`, are left out.
 */
export function versionMenu(sources: VersionSources): { readonly text: string; readonly items: readonly MenuItem[] } {
  const { tags, tag, repository } = sources;
  const others = tags
    .filter((each) => numbersOf(each).length > 0 && each !== tag)
    .toSorted(compareTags)
    .slice(0, MAX_VERSIONS);
  const linkTo = (ref: string): MenuItem => ({ text: ref, link: `${repository}/blob/${ref}/docs/README.md` });
  return {
    text: refOf(sources),
    items: [
      { text: "Release notes", link: "/project/changelog" },
      ...(tag === undefined ? [] : [linkTo("main")]),
      ...others.map(linkTo),
    ],
  };
}
