// A mixture of binary symmetric channels, and how many wrong bits a decoder bears that knows which
// of them each bit came through.
//
// Bits fall into classes; the decoder knows the class of each bit and how often bits of the class
// are wrong, which its log-likelihood ratios ln((1 - p) / p) say. A bit then tells it
//
//   I = sum of q (1 - h(p))     q: share of the class, p: its crossover, h: binary entropy, bits
//
// on average. A decoder that bears the share e of wrong bits when it takes all alike needs I = 1 -
// h(e), and is taken to need the same of any channel: thresholds of LDPC codes over different
// channels agree in mutual information within a few per cent (B: Franceschini, Ferrari & Raheli,
// IEEE Trans. Commun. 54(12), 2006). So its distance from capacity stays what it is. Left out: what
// the length of the frame and the spread of its classes add (the waterfall is the code's).
#pragma once

#include <span>

namespace tlmssd {

/// Bits that are wrong alike.
struct BitClass {
  double share = 0;      ///< of all bits
  double crossover = 0;  ///< share of them that is wrong
};

/// h(p) = -p log2 p - (1 - p) log2(1 - p); 0 at 0 and 1.
double binary_entropy(double p);

/// The share of wrong bits that can be borne, of all bits: where I has fallen to 1 - h(plain).
/// `plain`, above 0 and below 1/2: what is borne without classes. A frame with more wrong bits than
/// the classes say has more of them in each class by the same factor, up to a half: what is half
/// wrong is erased. Where not even that takes I so far, the share at which all of them are, or
/// `plain`.
double bearable(std::span<const BitClass> classes, double plain);

}  // namespace tlmssd
