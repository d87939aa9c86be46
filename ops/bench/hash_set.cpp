// A plain breadth-first search of sliding tiles in RAM: every state in one open-addressing hash
// set, 4 bits a cell, one core.      hash_set ROWS COLUMNS DEPTH LOG2_SLOTS
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

using Key = std::uint64_t;

struct HashSet {  // linear probing; 0 is no state, so it marks a free slot
    std::vector<Key> slots;
    int shift;
    Key mask;

    explicit HashSet(int log2) : slots(Key(1) << log2, 0), shift(64 - log2), mask((Key(1) << log2) - 1) {}

    bool insert(Key key) {
        Key at = (key * 0x9E3779B97F4A7C15u) >> shift;
        while (slots[at] != 0) {
            if (slots[at] == key) return false;
            at = (at + 1) & mask;
        }
        slots[at] = key;
        return true;
    }
};

static int blank_of(Key key, int cells) {
    for (int cell = 0; cell < cells; ++cell)
        if (((key >> (4 * cell)) & 15) == 0) return cell;
    return -1;
}

int main(int argc, char** argv) {
    if (argc != 5) return 2;
    const int rows = std::atoi(argv[1]), columns = std::atoi(argv[2]);
    const int last = std::atoi(argv[3]), cells = rows * columns;
    if (cells > 16) return 2;
    HashSet seen(std::atoi(argv[4]));
    Key start = 0;
    for (int tile = 0; tile + 1 < cells; ++tile) start |= Key(tile + 1) << (4 * tile);
    std::vector<Key> layer{start}, next;
    seen.insert(start);
    std::size_t states = 1;
    std::printf("[[0, 1, 0.0]");
    for (int depth = 1; depth <= last; ++depth) {
        const auto begun = std::chrono::steady_clock::now();
        next.clear();
        for (const Key key : layer) {
            const int blank = blank_of(key, cells), row = blank / columns, column = blank % columns;
            const auto visit = [&](int cell) {
                const Key tile = (key >> (4 * cell)) & 15;
                const Key child = key ^ (tile << (4 * cell)) ^ (tile << (4 * blank));
                if (seen.insert(child)) next.push_back(child);
            };
            if (row > 0) visit(blank - columns);
            if (row + 1 < rows) visit(blank + columns);
            if (column > 0) visit(blank - 1);
            if (column + 1 < columns) visit(blank + 1);
        }
        std::swap(layer, next);
        states += layer.size();
        if (states > seen.mask / 10 * 9) return 3;
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
        std::printf(", [%d, %zu, %.6f]", depth, layer.size(), took.count());
    }
    std::printf("]\n");
    return 0;
}
