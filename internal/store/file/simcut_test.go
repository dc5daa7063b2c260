package file

import (
	"bytes"
	"hash/maphash"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
)

// What a power cut may leave is enumerated here.
//
// Names, on an ordered disk: the changes up to some moment, of all folders together, as a journal of metadata keeps
// them (ext4, xfs). On a disk without order: any subset of them. On neither does a sync of a file carry a name along.
//
// A file, each for itself: every sector is as it was after any of the changes that are not durable, and so is the
// size; what a sector has not got yet is zeros. A harsh disk may also have got the new size only in part, or have
// garbage where a sector is missing; a stale one, lines of another file.

// harm is what a disk makes of data that it was not told to keep.
type harm int

const (
	gentle harm = iota // an ordered disk of which no sector reads as what it never was
	harsh
	stale
)

// sector is what a disk writes whole or not at all.
const sector = 512

// A remain is what may be left of a file.
type remain struct {
	data []byte
	harm harm
}

// remains returns what a power cut may leave of a file: the durable content first, the newest last, and between
// them a sample when there are many more than limit.
func remains(versions [][]byte, limit int, dice *rand.Rand) []remain {
	newest := versions[len(versions)-1]
	var list []remain
	known := map[string]bool{string(newest): true}
	add := func(data []byte, h harm) {
		if !known[string(data)] {
			known[string(data)] = true
			list = append(list, remain{data, h})
		}
	}
	add(versions[0], gentle)
	sizes, least, most := map[int]harm{}, len(newest), len(newest)
	for _, v := range versions {
		least, most = min(least, len(v)), max(most, len(v))
	}
	for size := least/sector*sector + sector; size < most; size += sector {
		sizes[size] = harsh
	}
	for _, v := range versions {
		sizes[len(v)] = gentle
	}
	for i, fill := range []byte{0, 'g', '\n'} {
		for k, n := range doubtful(versions, len(newest)) {
			if one := make([]int, (len(newest)+sector-1)/sector); n > 1 && k < 16 {
				for j := range one {
					one[j] = len(versions) - 1
				}
				one[k] = 0
				add(mix(versions, one, len(newest), fill), harm(i))
			}
		}
		for _, size := range slices.Sorted(maps.Keys(sizes)) {
			for pick := range ways(doubtful(versions, size), max(4, limit/10), dice) {
				add(mix(versions, pick, size, fill), max(sizes[size], harm(i)))
			}
		}
	}
	return append(list, remain{newest, gentle})
}

// doubtful returns for each sector how many versions there are of it: one where all agree.
func doubtful(versions [][]byte, size int) (choices []int) {
	for from := 0; from < size; from += sector {
		n := 1
		for _, v := range versions {
			if !bytes.Equal(part(v, from), part(versions[0], from)) {
				n = len(versions)
			}
		}
		choices = append(choices, n)
	}
	return choices
}

// part returns the sector of a file that starts at from, as far as there is one.
func part(data []byte, from int) []byte {
	return data[min(from, len(data)):min(from+sector, len(data))]
}

// mix returns a file of which each sector is from the version that pick names.
func mix(versions [][]byte, pick []int, size int, fill byte) []byte {
	data := bytes.Repeat([]byte{fill}, size)
	for i, v := range pick {
		copy(data[i*sector:], part(versions[v], i*sector))
	}
	return data
}

// ways yields how one of each of some choices may be taken: all ways when they are at most limit, otherwise the first,
// the last and a sample. What is yielded is only lent.
func ways(choices []int, limit int, dice *rand.Rand) iter.Seq[[]int] {
	total := 1
	for _, n := range choices {
		if total *= n; total > limit {
			break
		}
	}
	pick := make([]int, len(choices))
	return func(yield func([]int) bool) {
		for k := range min(total, limit) {
			rest := k
			for i, n := range choices {
				switch {
				case total <= limit:
					pick[i], rest = rest%n, rest/n
				case k < 2:
					pick[i] = k * (n - 1)
				default:
					pick[i] = dice.IntN(n)
				}
			}
			if !yield(pick) {
				return
			}
		}
	}
}

// cuts yields disks that a power cut may leave of d, and how harmful a disk has to be for it. Of a disk that keeps the
// order of names there are at most limit, and as many of one that does not.
func (d *simdisk) cuts(ordered bool, limit int, dice *rand.Rand) iter.Seq2[*simdisk, harm] {
	var changes []int64 // when the changes of names were made that are not durable
	loose := map[int]bool{}
	for _, n := range d.inodes {
		for _, id := range n.kept {
			loose[id] = true
		}
		for _, c := range n.pending {
			changes, loose[c.inode] = append(changes, c.at), true
		}
	}
	if slices.Sort(changes); !ordered && len(changes) == 0 {
		return func(func(*simdisk, harm) bool) {}
	}
	var files []int
	var left [][]remain
	var choices []int
	for id, n := range d.inodes {
		if loose[id] && len(n.versions) > 1 {
			files, left = append(files, id), append(left, remains(n.versions, limit, dice))
			choices = append(choices, len(left[len(left)-1]))
		}
	}
	if ordered {
		choices = append(choices, len(changes)+1)
	} else {
		choices = append(choices, slices.Repeat([]int{2}, len(changes))...)
	}
	return func(yield func(*simdisk, harm) bool) {
		for pick := range ways(choices, limit, dice) {
			data, worst := map[int][]byte{}, gentle
			for i, id := range files {
				r := left[i][pick[i]]
				data[id], worst = r.data, max(worst, r.harm)
			}
			names := pick[len(files):]
			kept := func(at int64) bool {
				i, _ := slices.BinarySearch(changes, at)
				return ordered && i < names[0] || !ordered && names[i] == 1
			}
			if !ordered {
				worst = max(worst, harsh)
			}
			if !yield(d.left(kept, data), worst) {
				return
			}
		}
	}
}

// left returns the disk after a power cut: what was kept of the changes of names, and the data of the files.
func (d *simdisk) left(kept func(at int64) bool, data map[int][]byte) *simdisk {
	c := &simdisk{real: d.real, clock: d.clock, plain: d.plain, inodes: make([]*inode, len(d.inodes))}
	for id, n := range d.inodes {
		left := &inode{folder: n.folder, mod: n.mod}
		switch text, loose := data[id]; {
		case n.folder:
			left.names = maps.Clone(n.kept)
			for _, c := range n.pending {
				if kept(c.at) {
					c.apply(left.names)
				}
			}
			left.kept = maps.Clone(left.names)
		case loose:
			left.versions = [][]byte{text}
		default:
			left.versions = n.versions[len(n.versions)-1:]
		}
		c.inodes[id] = left
	}
	return c
}

var seed = maphash.MakeSeed()

// sum tells disks apart by what can be read of them.
func (d *simdisk) sum() uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	var walk func(n *inode)
	walk = func(n *inode) {
		for _, name := range slices.Sorted(maps.Keys(n.names)) {
			h.WriteString(name)
			h.WriteByte(0)
			if below := d.inodes[n.names[name]]; below.folder {
				walk(below)
			} else {
				h.Write(below.data())
			}
			h.WriteByte(0)
		}
	}
	walk(d.inodes[0])
	return h.Sum64()
}
