//! A `tantivy` analyser that yields the same words as the library's index: lower-cased, without stop
//! words, stemmed.

use tantivy::tokenizer::{
    LowerCaser, SimpleTokenizer, StopWordFilter, TextAnalyzer, Token, TokenFilter, TokenStream,
    Tokenizer,
};

use crate::stem::stem;
use crate::stop_words::STOP_WORDS;

/// Builds the analyser.
pub(crate) fn analyzer() -> TextAnalyzer {
    let stop_words = STOP_WORDS.iter().map(|word| (*word).to_owned());
    TextAnalyzer::builder(SimpleTokenizer::default())
        .filter(LowerCaser)
        .filter(StopWordFilter::remove(stop_words))
        .filter(Stemmer)
        .build()
}

/// The library's stemmer, which is faster than `tantivy`'s.
#[derive(Clone)]
struct Stemmer;

#[derive(Clone)]
struct Stemmed<T>(T);

struct StemmedStream<S>(S);

impl TokenFilter for Stemmer {
    type Tokenizer<T: Tokenizer> = Stemmed<T>;

    fn transform<T: Tokenizer>(self, tokenizer: T) -> Stemmed<T> {
        Stemmed(tokenizer)
    }
}

impl<T: Tokenizer> Tokenizer for Stemmed<T> {
    type TokenStream<'a> = StemmedStream<T::TokenStream<'a>>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Self::TokenStream<'a> {
        StemmedStream(self.0.token_stream(text))
    }
}

impl<S: TokenStream> TokenStream for StemmedStream<S> {
    fn advance(&mut self) -> bool {
        let advanced = self.0.advance();
        if advanced {
            stem(&mut self.0.token_mut().text);
        }
        advanced
    }

    fn token(&self) -> &Token {
        self.0.token()
    }

    fn token_mut(&mut self) -> &mut Token {
        self.0.token_mut()
    }
}
